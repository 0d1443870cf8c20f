/** The worked example of a passkey in `docs/vectors/`: made by the code, written with `-u`. */
import { Either, Encoding } from "effect";
import { expect, it } from "vitest";
import { approverRef } from "../../core/credential/ApproverRef.ts";
import { refDigest } from "../../core/credential/SignatureCredential.ts";
import { webauthnDescriptorJson } from "../../core/webauthn/WebauthnDescriptor.ts";
import { cryptoOf } from "../../runtime/CryptoPrimitives.ts";
import { noblePrimitives } from "../../runtime/NobleCrypto.ts";
import { nobleCeremonyCrypto } from "../../runtime/NobleCeremonyCrypto.ts";
import { makeCredential, packedSelf } from "./Authenticator.ts";
import { relyingPartyOf, verifyFinish } from "./Verification.ts";

const relyingParty = relyingPartyOf({ origins: ["https://custody.example.org", "https://example.org"] });
const id = "alice.passkey-1";
const challenge = new Uint8Array(32).fill(1);
const userHandle = new Uint8Array(32).fill(2);
const at = 1_767_225_600_000;

it("shows how a response leads to a descriptor, a ref and a record", async () => {
  const credential = makeCredential({
    challenge,
    origin: "https://custody.example.org",
    rpId: "example.org",
    seed: id,
    flags: 0x4d,
    attestation: packedSelf,
  });
  const request = { invitation: Encoding.encodeBase64Url(new Uint8Array(32).fill(3)), credential };
  const answered = { relyingParty, challenge, userHandle, at };
  const { descriptor, observations } = Either.getOrThrow(
    verifyFinish(nobleCeremonyCrypto, answered, JSON.stringify(request)),
  );
  const descriptorJson = webauthnDescriptorJson(descriptor);
  const ref = approverRef(id, refDigest(cryptoOf(noblePrimitives).sha256OfText, descriptorJson));
  const record = {
    id,
    ref,
    credential: { ...descriptor, algorithm: "ES256" },
    observations,
    metadata: {},
    metadataRevision: 1,
    createdAt: at,
    updatedAt: at,
  };
  const session = {
    rpId: relyingParty.rpId,
    origins: relyingParty.origins,
    challenge: Encoding.encodeBase64Url(challenge),
    userHandle: Encoding.encodeBase64Url(userHandle),
  };
  const document = {
    tag: "SERVICE_APPROVER_V1",
    session,
    request,
    descriptor: descriptorJson,
    ref,
    status: 201,
    record,
  };
  const file = new URL("../../docs/vectors/webauthn-approver.json", import.meta.url).pathname;
  await expect(`${JSON.stringify(document, undefined, 2)}\n`).toMatchFileSnapshot(file);
});
