/**
 * The published vectors in docs/vectors, made again from their seeds and compared.
 * After a wanted change: `npx vitest run core/credential/Vectors.test.ts -u`.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { ED25519_TORSION_SUBGROUP, ed25519 } from "@noble/curves/ed25519.js";
import { ed448 } from "@noble/curves/ed448.js";
import { p256, p384, p521 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { ml_dsa44, ml_dsa65, ml_dsa87 } from "@noble/post-quantum/ml-dsa.js";
import {
  slh_dsa_sha2_128f,
  slh_dsa_sha2_128s,
  slh_dsa_sha2_192f,
  slh_dsa_sha2_192s,
  slh_dsa_sha2_256f,
  slh_dsa_sha2_256s,
  slh_dsa_shake_128f,
  slh_dsa_shake_128s,
  slh_dsa_shake_192f,
  slh_dsa_shake_192s,
  slh_dsa_shake_256f,
  slh_dsa_shake_256s,
} from "@noble/post-quantum/slh-dsa.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { approverRef } from "./ApproverRef.ts";
import { parseRegisterRequest } from "./RegisterRequest.ts";
import { descriptorJson, normalizeCredential, refDigest } from "./SignatureCredential.ts";
import { installedProviders } from "./SignatureProvider.ts";
import { cryptoOf } from "../../runtime/CryptoPrimitives.ts";
import { noblePrimitives } from "../../runtime/NobleCrypto.ts";

const { sha256OfText } = cryptoOf(noblePrimitives);
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const fileOf = (name: string) => fileURLToPath(new URL(`../../docs/vectors/${name}`, import.meta.url));
const textOf = (document: unknown) => `${JSON.stringify(document, null, 2)}\n`;

/** A nothing-up-my-sleeve seed: the algorithm's name, hashed and stretched. The keys are worthless and public. */
const seedOf = (algorithm: string, length: number): Uint8Array => {
  const stretched = new Uint8Array(createHash("shake256", { outputLength: length }).update(algorithm).digest());
  // Below the order of every curve, whatever the rest is.
  if (["P256", "P384", "P521", "SECP256K1"].includes(algorithm)) stretched.set([0, 0]);
  return stretched;
};

const spki = (header: string, key: Uint8Array) => concatBytes(hexToBytes(header), key);

interface Source {
  readonly algorithm: string;
  readonly seedBytes: number;
  /** Every accepted encoding, the normal one first. */
  readonly encodings: (seed: Uint8Array) => ReadonlyArray<readonly [name: string, encoded: Uint8Array]>;
}

const edwards = (algorithm: string, curve: typeof ed25519, header: string): Source => ({
  algorithm,
  seedBytes: curve.lengths.secretKey ?? 0,
  encodings: (seed) => {
    const key = curve.getPublicKey(seed);
    return [
      ["raw", key],
      ["spki", spki(header, key)],
    ];
  },
});

const weierstrass = (algorithm: string, curve: typeof p256, compressed: string, uncompressed: string): Source => ({
  algorithm,
  seedBytes: curve.lengths.secretKey ?? 0,
  encodings: (seed) => {
    const [short, long] = [curve.getPublicKey(seed, true), curve.getPublicKey(seed, false)];
    return [
      ["sec1-compressed", short],
      ["sec1-uncompressed", long],
      ["spki-compressed", spki(compressed, short)],
      ["spki-uncompressed", spki(uncompressed, long)],
    ];
  },
});

interface PostQuantumSigner {
  readonly lengths: { readonly seed?: number };
  readonly keygen: (seed: Uint8Array) => { readonly publicKey: Uint8Array };
}

const postQuantum = (algorithm: string, signer: PostQuantumSigner, header: string): Source => ({
  algorithm,
  seedBytes: signer.lengths.seed ?? 0,
  encodings: (seed) => {
    const { publicKey } = signer.keygen(seed);
    return [
      ["raw", publicKey],
      ["spki", spki(header, publicKey)],
    ];
  },
});

/** RFC 9909: the header for a key of so many bytes, and the last arc of its OID. */
const slhHeader = (keyBytes: 32 | 48 | 64, arc: number): string => {
  const lengths = { 32: ["30", "21"], 48: ["40", "31"], 64: ["50", "41"] }[keyBytes];
  return `30${lengths[0]}300b06096086480165030403${arc.toString(16)}03${lengths[1]}00`;
};

/** Headers are written out here, so that the code is checked against them. */
const sources: ReadonlyArray<Source> = [
  edwards("ED25519", ed25519, "302a300506032b6570032100"),
  edwards("ED448", ed448, "3043300506032b6571033a00"),
  weierstrass(
    "SECP256K1",
    secp256k1,
    "3036301006072a8648ce3d020106052b8104000a032200",
    "3056301006072a8648ce3d020106052b8104000a034200",
  ),
  weierstrass(
    "P256",
    p256,
    "3039301306072a8648ce3d020106082a8648ce3d030107032200",
    "3059301306072a8648ce3d020106082a8648ce3d030107034200",
  ),
  weierstrass(
    "P384",
    p384,
    "3046301006072a8648ce3d020106052b81040022033200",
    "3076301006072a8648ce3d020106052b81040022036200",
  ),
  weierstrass(
    "P521",
    p521,
    "3058301006072a8648ce3d020106052b81040023034400",
    "30819b301006072a8648ce3d020106052b8104002303818600",
  ),
  postQuantum("MLDSA44", ml_dsa44, "30820532300b06096086480165030403110382052100"),
  postQuantum("MLDSA65", ml_dsa65, "308207b2300b0609608648016503040312038207a100"),
  postQuantum("MLDSA87", ml_dsa87, "30820a32300b060960864801650304031303820a2100"),
  postQuantum("SLHDSA_SHA2_128S", slh_dsa_sha2_128s, slhHeader(32, 20)),
  postQuantum("SLHDSA_SHA2_128F", slh_dsa_sha2_128f, slhHeader(32, 21)),
  postQuantum("SLHDSA_SHA2_192S", slh_dsa_sha2_192s, slhHeader(48, 22)),
  postQuantum("SLHDSA_SHA2_192F", slh_dsa_sha2_192f, slhHeader(48, 23)),
  postQuantum("SLHDSA_SHA2_256S", slh_dsa_sha2_256s, slhHeader(64, 24)),
  postQuantum("SLHDSA_SHA2_256F", slh_dsa_sha2_256f, slhHeader(64, 25)),
  postQuantum("SLHDSA_SHAKE_128S", slh_dsa_shake_128s, slhHeader(32, 26)),
  postQuantum("SLHDSA_SHAKE_128F", slh_dsa_shake_128f, slhHeader(32, 27)),
  postQuantum("SLHDSA_SHAKE_192S", slh_dsa_shake_192s, slhHeader(48, 28)),
  postQuantum("SLHDSA_SHAKE_192F", slh_dsa_shake_192f, slhHeader(48, 29)),
  postQuantum("SLHDSA_SHAKE_256S", slh_dsa_shake_256s, slhHeader(64, 30)),
  postQuantum("SLHDSA_SHAKE_256F", slh_dsa_shake_256f, slhHeader(64, 31)),
];

const acceptedVector = ({ algorithm, seedBytes, encodings }: Source) => {
  const seed = seedOf(algorithm, seedBytes);
  const seedHex = bytesToHex(seed);
  const inputs = encodings(seed).map(([encoding, encoded]) => ({ encoding, publicKey64: base64(encoded) }));
  const id = `vector.${algorithm.toLowerCase()}`;
  const publicKey64 = inputs[0]?.publicKey64 ?? "";
  const descriptor = `{"algorithm":"${algorithm}","publicKey64":"${publicKey64}","type":"SIGNATURE","version":1}`;
  const digest = createHash("sha256").update("SERVICE_APPROVER_V1\0").update(descriptor).digest("hex");
  return { algorithm, id, seedHex, inputs, publicKey64, descriptor, ref: `${id}@sha256:${digest}` };
};

const refusedVectors = () => {
  const good = ed25519.Point.BASE;
  const torsion = ED25519_TORSION_SUBGROUP.map((hex) => ed25519.Point.fromHex(hex)).find((each) => !each.is0());
  const orderTwo = ed448.Point.fromAffine({ x: 0n, y: ed448.Point.Fp.ORDER - 1n });
  const point = p256.Point.BASE;
  const changed = (bytes: Uint8Array, index: number, value: number) => {
    const copy = bytes.slice();
    copy.set([value], index);
    return copy;
  };
  const header = "3059301306072a8648ce3d020106082a8648ce3d030107034200";
  const uncompressed = point.toBytes(false);
  const refused: ReadonlyArray<readonly [why: string, algorithm: string, publicKey64: string]> = [
    ["the identity", "ED25519", base64(ed25519.Point.ZERO.toBytes())],
    ["small order", "ED25519", base64(torsion?.toBytes() ?? new Uint8Array())],
    ["mixed order", "ED25519", base64(good.add(torsion ?? good).toBytes())],
    ["y = p + 3, not below the prime", "ED25519", base64(hexToBytes(`f0${"ff".repeat(30)}7f`))],
    ["x = 0 with the sign bit", "ED25519", base64(hexToBytes(`01${"00".repeat(30)}80`))],
    ["no point has this y", "ED25519", base64(hexToBytes(`02${"00".repeat(31)}`))],
    ["a trailing byte", "ED25519", base64(concatBytes(good.toBytes(), Uint8Array.of(0)))],
    ["Base64 without padding", "ED25519", base64(good.toBytes()).replace("=", "")],
    ["Base64 with a line break", "ED25519", `${base64(good.toBytes())}\n`],
    ["Base64 with bits left over", "ED25519", `${base64(good.toBytes()).slice(0, -2)}Z=`],
    ["small order", "ED448", base64(orderTwo.toBytes())],
    ["mixed order", "ED448", base64(ed448.Point.BASE.add(orderTwo).toBytes())],
    ["a hybrid point", "P256", base64(changed(uncompressed, 0, 0x06 + ((uncompressed.at(-1) ?? 0) & 1)))],
    ["off the curve", "P256", base64(changed(uncompressed, 64, (uncompressed.at(-1) ?? 0) ^ 1))],
    ["the point at infinity", "P256", base64(Uint8Array.of(0))],
    ["bare coordinates", "P256", base64(uncompressed.subarray(1))],
    ["x = p + 5, not below the prime", "P256", base64(hexToBytes(`02${(p256.Point.Fp.ORDER + 5n).toString(16)}`))],
    [
      "a SubjectPublicKeyInfo with a trailing byte",
      "P256",
      base64(concatBytes(spki(header, uncompressed), Uint8Array.of(0))),
    ],
    ["a SubjectPublicKeyInfo of another curve", "SECP256K1", base64(spki(header, uncompressed))],
    ["a byte short", "MLDSA44", base64(new Uint8Array(1311))],
    ["the length of another level", "SLHDSA_SHA2_128S", base64(new Uint8Array(48))],
  ];
  return refused.map(([why, algorithm, publicKey64]) => ({ why, algorithm, publicKey64 }));
};

const request = {
  id: "alice.hardware-1",
  credential: {
    type: "SIGNATURE",
    algorithm: "P256",
    publicKey64: base64(p256.getPublicKey(seedOf("P256", 32), false)),
  },
  metadata: { team: "payments", owner: "Alice Müller" },
};

/** The worked example, put together by the code from the request. */
const workedExample = () => {
  const { id, algorithm, publicKey64, metadata } = Either.getOrThrow(
    parseRegisterRequest(utf8ToBytes(JSON.stringify(request))),
  );
  const { credential } = Either.getOrThrow(normalizeCredential(installedProviders, algorithm, publicKey64));
  const at = 1767225600000;
  const record = {
    id,
    ref: approverRef(id, refDigest(sha256OfText, descriptorJson(credential))),
    credential,
    metadata: Object.fromEntries(metadata),
    metadataRevision: 1,
    createdAt: at,
    updatedAt: at,
  };
  return { request, status: 201, etag: '"1"', record };
};

const refused = refusedVectors();
/** What the tests of single algorithms made. Some keys take seconds: one test each, so that the process breathes. */
const accepted: Array<ReturnType<typeof acceptedVector>> = [];

it.each(sources)("$algorithm leads from every encoding to its ref", (source) => {
  const made = acceptedVector(source);
  accepted.push(made);
  expect(made.inputs.length).toBeGreaterThanOrEqual(2);
  for (const { encoding, publicKey64 } of made.inputs) {
    const { credential } = Either.getOrThrow(normalizeCredential(installedProviders, made.algorithm, publicKey64));
    const descriptor = descriptorJson(credential);
    expect(credential.publicKey64, encoding).toBe(made.publicKey64);
    expect(descriptor, encoding).toBe(made.descriptor);
    expect(approverRef(made.id, refDigest(sha256OfText, descriptor)), encoding).toBe(made.ref);
  }
});

it.each(refused)("$algorithm refuses $why", ({ algorithm, publicKey64 }) => {
  const outcome = normalizeCredential(installedProviders, algorithm, publicKey64);
  expect(Either.match(outcome, { onLeft: ({ code }) => code, onRight: () => "accepted" })).toBe("INVALID_PUBLIC_KEY");
});

it("has a vector for every installed algorithm", () => {
  expect(sources.map(({ algorithm }) => algorithm)).toEqual([...installedProviders.keys()]);
});

describe("the published files", () => {
  it("hold what the seeds give", async () => {
    const document = { tag: "SERVICE_APPROVER_V1", accepted, refused };
    await expect(textOf(document)).toMatchFileSnapshot(fileOf("signature-approvers.json"));
  });

  it("show one record as the service answers it", async () => {
    await expect(textOf(workedExample())).toMatchFileSnapshot(fileOf("signature-record.json"));
  });
});
