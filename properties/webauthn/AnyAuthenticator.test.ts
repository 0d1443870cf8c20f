/** The ceremony over all honest authenticators, over single changes to what they send, and over anything at all. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { encode } from "cborg";
import { Either, Encoding, Schema } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ceremonyChecks } from "../../core/webauthn/CeremonyRefusal.ts";
import { verifyRegistration } from "../../core/webauthn/RegistrationCeremony.ts";
import { nativeCeremonyCrypto } from "../../server/crypto/NativeCeremonyCrypto.ts";
import { type AnyRegistration, anyRegistration, bodyOf } from "./AnyAuthenticator.ts";
import { coseKeyOf, Flags, makeCredential, secretKeyOf } from "./Authenticator.ts";
import { anyMutation } from "./StructuralMutations.ts";
import { AT, relyingPartyOf, verifyFinish } from "./Verification.ts";

const asked = { challenge: new Uint8Array(32).fill(9), origin: "https://example.org", rpId: "example.org" };
const invitation = Encoding.encodeBase64Url(new Uint8Array(32).fill(7));
const userHandle = new Uint8Array(32).fill(5);
const session = { relyingParty: relyingPartyOf(), challenge: asked.challenge, userHandle };

const Corpus = Schema.parseJson(
  Schema.Array(
    Schema.Struct({ property: Schema.String, seed: Schema.Number, path: Schema.String, why: Schema.String }),
  ),
);

/** Runs that failed once, with the reason; every run replays them first. */
const corpus = Schema.decodeUnknownSync(Corpus)(
  readFileSync(fileURLToPath(new URL("./corpus.json", import.meta.url)), "utf8"),
);

const holds = <Values>(name: string, property: fc.IProperty<Values>, numRuns: number): void => {
  for (const { seed, path } of corpus.filter((each) => each.property === name))
    fc.assert(property, { seed, path, endOnFailure: true });
  fc.assert(property, { seed: 1, numRuns });
};

const outcomeOf = (body: string | Uint8Array) => verifyFinish(nativeCeremonyCrypto, session, body);

const honest = anyRegistration(asked);

type Outcome = typeof outcomeOf;

const isAccepted = (outcome: Outcome) => (registration: AnyRegistration) => {
  const { seed, credentialId, flags, signCount, aaguid } = registration.making;
  const base64Url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
  const verified = outcome(bodyOf(invitation, registration));
  expect(Either.isRight(verified) ? verified.right.descriptor : verified.left).toEqual({
    version: 1,
    type: "WEBAUTHN",
    credentialId: base64Url(credentialId),
    publicKeyCose: base64Url(coseKeyOf(secretKeyOf(seed))),
    rpId: "example.org",
    origins: ["https://example.org"],
    userVerification: "REQUIRED",
    userHandle: base64Url(userHandle),
    backupEligible: (flags & Flags.BE) !== 0,
  });
  expect(Either.getOrThrow(verified).observations).toEqual({
    signCount,
    backupState: (flags & Flags.BS) !== 0,
    transports: registration.transports,
    aaguid: base64Url(aaguid),
  });
};

const isRefused = (outcome: Outcome) =>
  fc.property(anyMutation(honest), ({ name, code, registration }) => {
    const result = outcome(bodyOf(invitation, registration));
    expect([name, Either.isLeft(result) ? result.left : "accepted"]).toEqual([name, code]);
  });

describe("a ceremony", () => {
  it("takes every honest authenticator and browser, and makes the one descriptor of it", () => {
    holds("honest", fc.property(honest, isAccepted(outcomeOf)), 60);
  });

  it("refuses any one change of structure by the name of its check", () => {
    holds("mutated", isRefused(outcomeOf), 200);
  });

  it("would be noticed if it refused the honest or took a change", () => {
    const counts = (body: string | Uint8Array) =>
      Either.filterOrLeft(
        outcomeOf(body),
        ({ observations }) => observations.signCount === 0,
        () => "a counter",
      );
    expect(fc.check(fc.property(honest, isAccepted(counts)), { seed: 1, numRuns: 60 }).failed).toBe(true);
    const lenient = (body: string | Uint8Array) =>
      Either.mapLeft(outcomeOf(body), (code) => (code === "backup_flags" ? "user_presence" : code));
    expect(fc.check(isRefused(lenient), { seed: 1, numRuns: 200 }).failed).toBe(true);
  });

  it("answers any bytes at all with a typed refusal", () => {
    const credential = makeCredential(asked);
    const bytes = fc.uint8Array({ maxLength: 200 });
    const json = fc.jsonValue({ maxDepth: 4 });
    const cbor = fc
      .anything({ maxDepth: 3, values: [fc.integer(), fc.string(), fc.boolean(), bytes] })
      .map((each) => encode(each));
    /** Of a browser's JSON one member, at whatever depth, is anything. */
    const bent = fc
      .record({
        member: fc.constantFrom("id", "type", "response", "clientExtensionResults"),
        of: fc.constantFrom("credential", "response"),
        name: fc.constantFrom("clientDataJSON", "attestationObject", "transports", "publicKeyAlgorithm", "x"),
        value: json,
      })
      .map(({ member, of, name, value }) =>
        JSON.stringify({
          invitation,
          credential:
            of === "credential"
              ? { ...credential, [member]: value }
              : { ...credential, response: { ...credential.response, [name]: value } },
        }),
      );
    const bodies = fc.oneof(
      bytes,
      json.map((value) => JSON.stringify(value)),
      bent,
    );
    holds(
      "anything as a body",
      fc.property(bodies, (body) => {
        expect(Either.merge(Either.mapBoth(outcomeOf(body), { onLeft: String, onRight: () => "" }))).toMatch(/^\w*$/);
      }),
      300,
    );
    const parts = fc.record({
      clientDataJson: fc.oneof(bytes, fc.constant(Buffer.from(credential.response.clientDataJSON, "base64url"))),
      attestationObject: fc.oneof(bytes, cbor),
    });
    const refused = fc.property(parts, (given) => {
      const id = new Uint8Array(16);
      const nothing = { authenticatorData: undefined, publicKey: undefined, publicKeyAlgorithm: undefined };
      const credential = { id, rawId: id, transports: [], reported: nothing, ...given };
      const result = verifyRegistration(nativeCeremonyCrypto, { ...session, credential, at: AT });
      const { check, pointer } = Either.getOrThrow(Either.flip(result));
      expect(pointer).toBe(ceremonyChecks[check]);
    });
    holds("anything as a response", refused, 500);
  });
});
