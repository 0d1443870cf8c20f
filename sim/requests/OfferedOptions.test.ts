import { describe, expect, it } from "vitest";
import type { Offer } from "../../core/commands/enrollPasskey/Offer.ts";
import { OfferedOptions } from "./OfferedOptions.ts";

const value = (letter: string): string => letter.repeat(43);

const offer = (session: string, excluded: ReadonlyArray<string>, challenge = value(session)): Offer => ({
  registrationId: `session ${session}`,
  invitation: value(`${session}i`.slice(-1)).replace(/^./u, session),
  expiresAt: 1_000,
  publicKey: {
    rp: { id: "example.org", name: "Example" },
    user: { id: value("u").replace(/^./u, session), name: "alice", displayName: "alice" },
    challenge,
    pubKeyCredParams: [{ type: "public-key", alg: -7 }],
    timeout: 1_000,
    excludeCredentials: excluded.map((id) => ({ type: "public-key", id })),
    authenticatorSelection: { residentKey: "preferred", requireResidentKey: false, userVerification: "required" },
    attestation: "none",
    extensions: { credProps: true },
  },
});
const response = { id: "alice", rpId: "example.org", credentialName: "example.org c1" };
const asked = (session: string, excluded: ReadonlyArray<string>, askedAt = 10) => ({
  requestId: "r",
  id: "alice",
  askedAt,
  offer: offer(session, excluded),
});

describe("options", () => {
  it("exclude what was enrolled before they were asked for, and may exclude what was sent", () => {
    const options = new OfferedOptions();
    options.offered(asked("a", []));
    options.asked(response);
    options.offered(asked("b", []));
    options.offered(asked("c", ["c1"]));
    options.enrolled(response, 20);
    options.offered(asked("d", [], 20));
    options.offered(asked("e", ["c1"], 21));
    expect(() => options.offered(asked("f", [], 21))).toThrow("they do not exclude credential c1");
  });

  it("exclude nothing that nobody sent for this id", () => {
    const options = new OfferedOptions();
    options.enrolled({ ...response, id: "bob" }, 1);
    options.enrolled({ ...response, rpId: "example.net" }, 1);
    expect(() => options.offered(asked("a", ["c1"]))).toThrow("they exclude credential c1");
  });

  it("are of one session, told twice or once, and share nothing with another", () => {
    const options = new OfferedOptions();
    options.offered(asked("a", []));
    options.offered(asked("a", []));
    const shared = { ...asked("b", []), offer: offer("b", [], value("a")) };
    expect(() => options.offered(shared)).toThrow("session session b shares a value with session session a");
    const short = { ...asked("c", []), offer: offer("c", [], "cc") };
    expect(() => options.offered(short)).toThrow("32 fresh bytes");
  });
});
