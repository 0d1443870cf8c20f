import { describe, expect, it } from "vitest";
import { actor, type Cluster, codeOf, NOW } from "../../../properties/cluster/Cluster.ts";
import { credential, enrolling, finish, offerOf, posted } from "../../../properties/cluster/Enrolling.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import type { Offer } from "./Offer.ts";
import type { ActorCheck } from "../../auth/ActorCheck.ts";
import { CAPACITIES } from "../../base/Capacities.ts";
import { Limits } from "../../base/Limits.ts";
import { enrollmentIn } from "./EnrollmentState.ts";
import { FINISH_PATH } from "./Finish.ts";

const { refusedFinishMillis, refusedFinishOfActorMillis } = Limits;
const { refusedFinishes, refusedFinishesOfActor } = CAPACITIES;
const TOO_MANY = "TOO_MANY_ATTEMPTS";

/** Somebody with a token of their own. */
const bearer = (sub: string): ActorCheck =>
  actor._tag === "Verified" ? { _tag: "Verified", claims: { ...actor.claims, sub } } : actor;

let asked = 0;
/** A peer's answer to a response, by the name of a subject: a code, or "Registered". */
const tell = (cluster: Cluster, through: number, sub: string, invitation: string, response: unknown) => {
  const requestId = `attempt-${asked++}`;
  cluster.judge = () => bearer(sub);
  finish(cluster, through, requestId, invitation, response);
  // A mono instance proposes at a timer.
  cluster.pass(0);
  return codeOf(cluster, requestId);
};
const wrong = (offer: Offer) => credential(offer, { flags: 0x41 });
/** Refused so many times, each by another subject unless one is named. */
const refusals = (cluster: Cluster, through: number, count: number, offer: Offer, sub?: string) =>
  Array.from({ length: count }, (_, index) =>
    tell(cluster, through, sub ?? `somebody-${index}`, offer.invitation, wrong(offer)),
  );
const all = (count: number, code: string) => Array.from({ length: count }, () => code);

describe("refused responses to one invitation", () => {
  it.each([1, 2])("are sixteen at once at peer %i, whoever sends them, and then one every ten seconds", (through) => {
    const cluster = enrolling(2);
    const offer = offerOf(cluster, 1, "options");
    const before = cluster.ceremonies;
    expect(refusals(cluster, through, refusedFinishes, offer)).toEqual(all(refusedFinishes, "INVALID_CEREMONY"));
    expect(refusals(cluster, through, 20, offer)).toEqual(all(20, TOO_MANY));
    expect(cluster.ceremonies - before).toBe(refusedFinishes);
    cluster.pass(refusedFinishMillis - 1);
    expect(refusals(cluster, through, 1, offer)).toEqual([TOO_MANY]);
    cluster.pass(1);
    expect(refusals(cluster, through, 2, offer)).toEqual(["INVALID_CEREMONY", TOO_MANY]);
  });

  it("are no end of it: the honest response is taken when one has come back, and through another peer at once", () => {
    const cluster = enrolling(3);
    const [first, second] = [offerOf(cluster, 1, "first"), offerOf(cluster, 1, "second", "bob")];
    for (const offer of [first, second]) refusals(cluster, 2, refusedFinishes, offer);
    expect(tell(cluster, 2, "holder", first.invitation, credential(first))).toBe(TOO_MANY);
    expect(tell(cluster, 3, "holder", first.invitation, credential(first))).toBe("Registered");
    cluster.pass(refusedFinishMillis);
    const honest = credential(second, { seed: "bob" });
    expect(tell(cluster, 2, "holder", second.invitation, honest)).toBe("Registered");
    // Once a session is done, no response to it is verified.
    expect(tell(cluster, 2, "holder", second.invitation, honest)).toBe("Registered");
  });

  it("cost no other invitation anything", () => {
    const cluster = enrolling(1);
    const [first, second] = [offerOf(cluster, 1, "first"), offerOf(cluster, 1, "second", "bob")];
    refusals(cluster, 1, refusedFinishes + 1, first);
    expect(tell(cluster, 1, "holder", second.invitation, credential(second))).toBe("Registered");
  });

  it("count where a verified response is refused for what is registered", () => {
    const cluster = enrolling(2);
    const [first, second] = [offerOf(cluster, 1, "first"), offerOf(cluster, 1, "second", "bob")];
    const known = { seed: "known" };
    expect(tell(cluster, 1, "holder", first.invitation, credential(first, known))).toBe("Registered");
    const codes = Array.from({ length: refusedFinishes + 2 }, (_, index) =>
      tell(cluster, 2, `somebody-${index}`, second.invitation, credential(second, known)),
    );
    const before = cluster.ceremonies;
    expect(codes).toEqual([...all(refusedFinishes, "CREDENTIAL_ALREADY_REGISTERED"), TOO_MANY, TOO_MANY]);
    expect(tell(cluster, 1, "somebody", second.invitation, credential(second, known))).toBe(TOO_MANY);
    expect(cluster.ceremonies).toBe(before);
  });
});

describe("refused responses of one actor", () => {
  it("are 32 at once, whatever is wrong with them, and then one a second", () => {
    const cluster = enrolling(1);
    const offers = [1, 2, 3].map((index) => offerOf(cluster, 1, `options-${index}`, `id-${index}`));
    const codes = offers.flatMap((offer) => refusals(cluster, 1, 8, offer, "mallory"));
    expect(codes).toEqual(all(24, "INVALID_CEREMONY"));
    for (let index = 24; index < refusedFinishesOfActor; index++)
      expect(tell(cluster, 1, "mallory", "A".repeat(43), {})).toBe("INVALID_REQUEST_BODY");
    const [offer] = offers;
    if (offer === undefined) return;
    const before = cluster.ceremonies;
    expect(refusals(cluster, 1, 3, offer, "mallory")).toEqual(all(3, TOO_MANY));
    expect(cluster.ceremonies).toBe(before);
    cluster.pass(refusedFinishOfActorMillis);
    expect(refusals(cluster, 1, 2, offer, "mallory")).toEqual(["INVALID_CEREMONY", TOO_MANY]);
  });

  it("cost nobody else anything, also where the subject is of another issuer", () => {
    const cluster = enrolling(1);
    const offer = offerOf(cluster, 1, "options");
    for (let index = 0; index < refusedFinishesOfActor; index++) tell(cluster, 1, "mallory", "A".repeat(43), {});
    expect(tell(cluster, 1, "mallory", offer.invitation, credential(offer))).toBe(TOO_MANY);
    const mallory = bearer("mallory");
    if (mallory._tag !== "Verified") return;
    cluster.judge = () => ({ ...mallory, claims: { ...mallory.claims, iss: "elsewhere" } });
    finish(cluster, 1, "elsewhere", offer.invitation, credential(offer));
    cluster.pass(0);
    expect(codeOf(cluster, "elsewhere")).toBe("Registered");
  });

  it("are not read when they are too many, and deny nothing that is reserved", () => {
    const cluster = enrolling(2);
    const offer = offerOf(cluster, 1, "options");
    for (let index = 0; index < refusedFinishesOfActor; index++) tell(cluster, 2, "mallory", "A".repeat(43), {});
    const malformed = { method: "POST", path: FINISH_PATH, ifMatch: undefined, rawBody: Uint8Array.of(0xff) };
    cluster.ask(2, "malformed", malformed);
    cluster.pass(0);
    expect(cluster.answers.get("malformed")).toMatchObject({ rejection: { code: TOO_MANY, outcomeUnknown: false } });
    // Another's response is prepared and undecided: finding this copy's owner takes a look at the body.
    cluster.tamper = (_from, _to, message) => (message._tag === "Votes" ? undefined : message);
    cluster.judge = () => bearer("holder");
    finish(cluster, 1, "honest", offer.invitation, credential(offer));
    cluster.pass(0);
    cluster.judge = () => bearer("mallory");
    cluster.ask(2, "copy", posted(FINISH_PATH, { invitation: offer.invitation, credential: credential(offer) }));
    cluster.pass(0);
    expect(cluster.answers.get("copy")).toMatchObject({ rejection: { code: TOO_MANY, outcomeUnknown: true } });
  });

  it("are known of so many names that a peer's memory has room for", () => {
    const cluster = enrolling(1);
    const { refusedFinishNames } = CAPACITIES;
    for (let index = 0; index <= refusedFinishNames; index++) tell(cluster, 1, `sub-${index}`, "A".repeat(43), {});
    expect(enrollmentIn(stateOf(cluster, 1)).refusedFinishes.size).toBe(refusedFinishNames);
    // The times of all of them are over.
    cluster.pass(refusedFinishOfActorMillis * 2);
    tell(cluster, 1, "one more", "A".repeat(43), {});
    expect(enrollmentIn(stateOf(cluster, 1)).refusedFinishes.size).toBe(1);
    expect(cluster.now).toBeGreaterThan(NOW);
  });
});
