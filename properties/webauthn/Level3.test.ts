/** The examples of WebAuthn Level 3, section 16, with either crypto backend. */
import { existsSync, readFileSync } from "node:fs";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { nobleCeremonyCrypto } from "../../runtime/NobleCeremonyCrypto.ts";
import { nativeCeremonyCrypto } from "../../server/crypto/NativeCeremonyCrypto.ts";
import { root } from "./Attestations.ts";
import { relyingPartyOf, verifyFinish } from "./Verification.ts";

const file = new URL("../../../shared/vectors/webauthn/w3c-level3-vectors.json", import.meta.url);

interface Vector {
  readonly id: string;
  readonly expected: { readonly challenge: string; readonly origin: string; readonly rpId: string };
  readonly outcome: "accept" | "reject" | "policy";
  readonly credential: unknown;
}

interface Vectors {
  readonly attestationRoot: { readonly attestation_ca_cert: string };
  readonly vectors: ReadonlyArray<Vector>;
}

describe.each([
  ["native", nativeCeremonyCrypto],
  ["portable", nobleCeremonyCrypto],
])("the vectors, %s", (_, crypto) => {
  const classified = (trustRoots: (shipped: Uint8Array) => ReadonlyArray<Uint8Array>) => {
    const { vectors, attestationRoot }: Vectors = JSON.parse(readFileSync(file, "utf8"));
    const shipped = Buffer.from(attestationRoot.attestation_ca_cert, "hex");
    return vectors.map(({ id, expected, outcome, credential }) => {
      const body = JSON.stringify({ invitation: "A".repeat(43), credential });
      const { rpId, origin } = expected;
      const answered = {
        relyingParty: relyingPartyOf({ rpId, origins: [origin], trustRoots: trustRoots(shipped) }),
        challenge: Buffer.from(expected.challenge, "base64url"),
        userHandle: new Uint8Array(32),
      };
      const result = verifyFinish(crypto, answered, body);
      return { id, outcome, result };
    });
  };

  it.for<[name: string, roots: (shipped: Uint8Array) => ReadonlyArray<Uint8Array>, policy: "accept" | "reject"]>([
    ["no root", () => [], "accept"],
    ["the shipped root", (shipped) => [root.certificate, shipped], "accept"],
    ["another root", () => [root.certificate], "reject"],
  ])("are classified as labelled under %s", ([, roots, policy], { skip }) => {
    skip(!existsSync(file), `${file.pathname} is not here`);
    const results = classified(roots);
    for (const { id, outcome, result } of results)
      expect(result._tag, `${id} ${JSON.stringify(Either.merge(result))}`).toBe(
        (outcome === "policy" ? policy : outcome) === "accept" ? "Right" : "Left",
      );
    expect(results).toHaveLength(15);
  });
});
