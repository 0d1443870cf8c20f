import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { Either, Encoding } from "effect";
import { describe, expect, it } from "vitest";
import { crypto } from "../../../properties/cluster/Cluster.ts";
import { posted } from "../../../properties/cluster/Enrolling.ts";
import { installedProviders } from "../../credential/SignatureProvider.ts";
import { REGISTER_PATH, registrationOf } from "../registerKey/Registration.ts";
import { custodyIdentity } from "./CustodyIdentity.ts";

/** The identity of the same key as an approver's. */
const asApprover = (algorithm: string, publicKey: Uint8Array): string => {
  const credential = { type: "SIGNATURE", algorithm, publicKey64: Encoding.encodeBase64(publicKey) };
  const call = posted(REGISTER_PATH, { id: "alice", credential });
  return Either.getOrThrow(registrationOf({ crypto, providers: installedProviders }, call)).keyIdentity;
};

const secret = new Uint8Array(32).fill(5);

describe("the identity of a custody key", () => {
  it("is that of the approver's key with the same x coordinate and an even y", () => {
    const x = schnorr.getPublicKey(secret);
    const point = secp256k1.Point.fromBytes(Uint8Array.of(2, ...x));
    const identity = custodyIdentity(crypto, { algorithm: "SECP256K1" }, { publicKey: bytesToHex(x) });
    expect(identity).toBe(asApprover("SECP256K1", point.toBytes(true)));
    expect(identity).toBe(asApprover("SECP256K1", point.toBytes(false)));
  });

  it("is that of the very point where the key is one", () => {
    const point = secp256k1.getPublicKey(secret);
    expect(custodyIdentity(crypto, { algorithm: "SECP256K1" }, { publicKey: bytesToHex(point) })).toBe(
      asApprover("SECP256K1", point),
    );
  });
});
