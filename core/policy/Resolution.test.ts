import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { base64, base64urlnopad } from "@scure/base";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crypto } from "../../properties/cluster/Cluster.ts";
import { rejection } from "../base/Rejection.ts";
import { approverRef } from "../credential/ApproverRef.ts";
import { keyIdentityOf } from "../credential/KeyIdentity.ts";
import { descriptorJson, refDigest } from "../credential/SignatureCredential.ts";
import { installedProviders } from "../credential/SignatureProvider.ts";
import { webauthnDescriptorJson } from "../webauthn/WebauthnDescriptor.ts";
import { listedIn, type Policy, policyDigest } from "./Policy.ts";
import { readPolicy } from "./PolicyRequest.ts";
import { type Lookup, type Registered, resolvePolicy } from "./Resolution.ts";

const means = { crypto, providers: installedProviders };

/** The last value of a generator. */
const last = <A>(work: Iterator<unknown, A>): A => {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
};

const seedOf = (seed: number): Uint8Array => new Uint8Array(32).fill(seed + 1);
const inline = (seed: number) => ({
  type: "SIGNATURE" as const,
  algorithm: "ED25519",
  publicKey64: base64.encode(ed25519.getPublicKey(seedOf(seed))),
});
const p256Point = (seed: number, compressed: boolean) => p256.getPublicKey(seedOf(seed), compressed);
const inlineP256 = (seed: number) => ({
  type: "SIGNATURE" as const,
  algorithm: "P256",
  publicKey64: base64.encode(p256Point(seed, true)),
});

const named = (id: string, descriptor: string, algorithm: string, key: Uint8Array): Registered => ({
  id,
  descriptor,
  ref: approverRef(id, refDigest(crypto.sha256OfText, descriptor)),
  keyIdentity: keyIdentityOf(crypto, algorithm, key),
});
const signer = (id: string, credential: ReturnType<typeof inline> | ReturnType<typeof inlineP256>): Registered =>
  named(id, descriptorJson(credential), credential.algorithm, base64.decode(credential.publicKey64));

const cose = (seed: number): Uint8Array => {
  const point = p256Point(seed, false);
  const head = hexToBytes("a5010203262001215820");
  return concatBytes(head, point.subarray(1, 33), hexToBytes("225820"), point.subarray(33));
};
const passkey = (id: string, seed: number, more: { readonly publicKeyCose?: string } = {}): Registered => {
  const descriptor = webauthnDescriptorJson({
    version: 1,
    type: "WEBAUTHN",
    credentialId: base64urlnopad.encode(seedOf(seed)),
    publicKeyCose: base64urlnopad.encode(cose(seed)),
    rpId: "example.org",
    origins: ["https://example.org"],
    userVerification: "REQUIRED",
    userHandle: base64urlnopad.encode(seedOf(9)),
    backupEligible: false,
    ...more,
  });
  return named(id, descriptor, "P256", p256Point(seed, true));
};

const alice = signer("alice", inline(1));
const bob = signer("bob", inline(2));
const aliceAgain = signer("alice", inline(3));
const twin = signer("twin", inline(1));
const carol = passkey("carol", 5);
const carolsKey = signer("carol", inlineP256(5));

const lookupIn =
  (...rows: ReadonlyArray<Registered>): Lookup =>
  (ref) => {
    const row = rows.find((each) => each.ref === ref);
    return row === undefined ? Either.left(rejection("APPROVER_NOT_FOUND", "", "")) : Either.right(row);
  };
const all = lookupIn(alice, bob, aliceAgain, twin, carol, carolsKey);

const read = (document: object): Policy =>
  Either.getOrThrowWith(last(readPolicy(means, utf8ToBytes(JSON.stringify(document)))), ({ faults }) =>
    Error(JSON.stringify(faults)),
  );
const pin = ({ ref }: Pick<Registered, "ref">) => ({ ref });
const fourEye = (...keys: ReadonlyArray<object>): Policy =>
  read({ fourEye: { mode: "STRICT", m: 1, n: keys.length, keys } });
const resolve = (policy: Policy, lookup: Lookup = all) => Either.getOrThrow(last(resolvePolicy(means, lookup, policy)));
/** For each entry its identity's kind, or why not. */
const told = (policy: Policy, lookup: Lookup = all) => {
  const { entries, policyDigest: digest } = resolve(policy, lookup);
  const outcomes = entries.map(({ outcome }) =>
    Either.match(outcome, {
      onLeft: ({ code, duplicateOf }) => (duplicateOf === undefined ? code : `${code} ${duplicateOf}`),
      onRight: ({ type }) => type as string,
    }),
  );
  expect(digest !== undefined).toBe(entries.every(({ outcome }) => Either.isRight(outcome)));
  return outcomes;
};

describe("an entry", () => {
  it("comes to the approver and the key that its ref names", () => {
    const { entries } = resolve(fourEye(pin(alice), pin(carol), inline(4)));
    expect(entries).toMatchObject([
      {
        pointer: "/fourEye/keys/0",
        ref: alice.ref,
        outcome: Either.right({ type: "SIGNATURE", algorithm: "ED25519", keyIdentity: alice.keyIdentity, id: "alice" }),
      },
      {
        pointer: "/fourEye/keys/1",
        ref: carol.ref,
        outcome: Either.right({
          type: "WEBAUTHN",
          algorithm: "ES256",
          credentialId: base64urlnopad.encode(seedOf(5)),
          rpId: "example.org",
          keyIdentity: carol.keyIdentity,
          id: "carol",
        }),
      },
      { pointer: "/fourEye/keys/2", ref: undefined, outcome: { _tag: "Right" } },
    ]);
  });

  it("is what this one version is: another version of the id is another key", () => {
    expect(told(fourEye(pin(alice), pin(aliceAgain)))).toEqual(["SIGNATURE", "SIGNATURE"]);
    expect(told(fourEye(pin(aliceAgain)), lookupIn(alice))).toEqual(["approver_not_found"]);
  });

  it("does not resolve while its approver is missing, and hinders no other entry", () => {
    expect(told(fourEye(pin(alice), pin(bob), pin(carol)), lookupIn(bob))).toEqual([
      "approver_not_found",
      "SIGNATURE",
      "approver_not_found",
    ]);
  });

  it.each<[string, Registered]>([
    ["stands under another ref", { ...bob, ref: alice.ref }],
    ["has another id", { ...alice, id: "alicf" }],
    ["has another descriptor", { ...alice, descriptor: bob.descriptor }],
    ["has a descriptor with a space more", { ...alice, descriptor: ` ${alice.descriptor}` }],
    ["claims another key", { ...alice, keyIdentity: bob.keyIdentity }],
  ])("does not resolve where the row %s", (_name, row) => {
    expect(told(fourEye(pin(alice), pin(bob)), (ref) => Either.right(ref === alice.ref ? row : bob))).toEqual([
      "integrity_failure",
      "SIGNATURE",
    ]);
  });

  it("does not resolve where its row cannot be believed", () => {
    const lookup: Lookup = () => Either.left(rejection("INTEGRITY_FAILURE", "", ""));
    expect(told(fourEye(pin(alice), inline(4)), lookup)).toEqual(["integrity_failure", "SIGNATURE"]);
  });

  it.each<[string, Registered]>([
    ["type", named("x", '{"type":"OTHER","version":1}', "P256", seedOf(1))],
    ["version", named("x", alice.descriptor.replace('"version":1', '"version":2'), "ED25519", seedOf(1))],
    ["algorithm", named("x", alice.descriptor.replace("ED25519", "ED25520"), "ED25519", seedOf(1))],
    ["Base64", named("x", alice.descriptor.replace("=", ""), "ED25519", seedOf(1))],
    ["passkey", passkey("x", 5, { publicKeyCose: base64urlnopad.encode(cose(5).fill(1, 11, 40)) })],
    ["form of a passkey", passkey("x", 5, { publicKeyCose: `${base64urlnopad.encode(cose(5))}AA` })],
    ["text", named("x", "{", "ED25519", seedOf(1))],
  ])("does not resolve with a %s of which nothing can be verified", (_name, row) => {
    expect(told(fourEye(pin(row)), lookupIn(row))).toEqual(["unsupported_credential"]);
  });

  it("is not looked up by anything but its whole ref", () => {
    const asked: Array<string> = [];
    const lookup: Lookup = (ref) => {
      asked.push(ref);
      return all(ref);
    };
    told(fourEye(pin(alice), inline(4), pin(carol)), lookup);
    expect(asked).toEqual([alice.ref, carol.ref]);
  });

  it("ends the whole where the registry cannot be read any more", () => {
    const sealed = rejection("SEALED", "sealed", "unseal");
    const lookup: Lookup = (ref) => (ref === bob.ref ? Either.left(sealed) : all(ref));
    expect(last(resolvePolicy(means, lookup, fourEye(pin(alice), pin(bob), pin(carol))))).toEqual(Either.left(sealed));
  });
});

describe("one key", () => {
  it.each<[string, ReadonlyArray<object>]>([
    ["under one ref", [pin(alice), pin(alice)]],
    ["under two ids", [pin(alice), pin(twin)]],
    ["pinned and inline", [pin(alice), inline(1)]],
    ["inline and pinned", [inline(1), pin(alice)]],
    ["inline in two encodings", [inline(1), { ...inline(1), publicKey64: `MCowBQYDK2VwAyEA${inline(1).publicKey64}` }]],
    ["as a passkey and as a P256 key", [pin(carol), pin(carolsKey)]],
    ["as a passkey and as an inline P256 key", [pin(carol), inlineP256(5)]],
  ])("counts once, %s", (_name, [first = {}, second = {}]) => {
    const [before, after, between] = told(fourEye(first, second, pin(bob)));
    expect([before === "SIGNATURE" || before === "WEBAUTHN", between]).toEqual([true, "SIGNATURE"]);
    expect(after).toBe("duplicate_key /fourEye/keys/0");
    expect(told(fourEye(first, pin(bob)))).not.toContain("duplicate_key /fourEye/keys/0");
  });

  it("is another one on another curve", () => {
    const bytes = base64.encode(p256Point(5, true));
    const onK256 = { type: "SIGNATURE", algorithm: "SECP256K1", publicKey64: bytes };
    // About half of all x coordinates are on both curves.
    const seeds = Array.from({ length: 40 }, (_, seed) => ({
      ...onK256,
      publicKey64: base64.encode(p256Point(seed, true)),
    }));
    const both = seeds.findIndex(({ publicKey64 }) =>
      Either.isRight(installedProviders.get("SECP256K1")?.normalize(base64.decode(publicKey64)) ?? Either.left("")),
    );
    expect(told(fourEye(inlineP256(both), seeds[both] ?? {}))).toEqual(["SIGNATURE", "SIGNATURE"]);
  });

  it("is found once in a policy of any make", () => {
    const people = fc.array(fc.tuple(fc.nat({ max: 6 }), fc.boolean()), { minLength: 1, maxLength: 8 });
    const rows = Array.from({ length: 7 }, (_, seed) => signer(`p${seed}`, inline(seed)));
    fc.assert(
      fc.property(people, (entries) => {
        const keys = entries.map(([seed, isInline]) => (isInline ? inline(seed) : pin(rows[seed] ?? { ref: "" })));
        const outcomes = told(fourEye(...keys), lookupIn(...rows));
        const seeds = entries.map(([seed]) => seed);
        expect(outcomes).toEqual(
          seeds.map((seed, index) => {
            const first = seeds.indexOf(seed);
            return first === index ? "SIGNATURE" : `duplicate_key /fourEye/keys/${first}`;
          }),
        );
      }),
    );
  });
});

describe("an authority's policy", () => {
  const authority = (approvers: object) =>
    read({
      policy: {
        id: "eu",
        fallback: "ALLOW_WITH_REQUIREMENTS",
        approvers,
        fallbackApprovals: { threshold: 1, approvers: ["cfo"] },
      },
    });

  it("resolves whoever it lists, also where no group names them", () => {
    const policy = authority({ cfo: pin(alice), unused: pin(bob) });
    expect(listedIn(policy).map(({ pointer }) => pointer)).toEqual([
      "/policy/approvers/cfo",
      "/policy/approvers/unused",
    ]);
    expect(told(policy)).toEqual(["SIGNATURE", "SIGNATURE"]);
    expect(told(policy, lookupIn(alice))).toEqual(["SIGNATURE", "approver_not_found"]);
  });

  it("has no two aliases for one key", () => {
    expect(told(authority({ cfo: pin(alice), unused: pin(twin) }))).toEqual([
      "SIGNATURE",
      "duplicate_key /policy/approvers/cfo",
    ]);
  });

  it("is digested with its aliases sorted and its groups as they are written", () => {
    const digest = (approvers: object) => policyDigest(crypto, authority(approvers));
    const pins = { cfo: pin(alice), ops: pin(bob) };
    expect(digest({ ops: pin(bob), cfo: pin(alice) })).toBe(digest(pins));
    const json = `{"policy":{"approvers":{"cfo":{"ref":"${alice.ref}"},"ops":{"ref":"${bob.ref}"}},"fallback":"ALLOW_WITH_REQUIREMENTS","fallbackApprovals":{"approvers":["cfo"],"threshold":1},"id":"eu"},"version":1}`;
    expect(digest(pins)).toBe(createHash("sha256").update(`SERVICE_POLICY_V1\0${json}`).digest("hex"));
    expect(digest({ ...pins, ops: pin(aliceAgain) })).not.toBe(digest(pins));
  });
});

describe("the digest of a policy", () => {
  it("is over the literal refs and the keys in normal form", () => {
    const key = inline(4);
    const policy = fourEye(pin(alice), { ...key, publicKey64: `MCowBQYDK2VwAyEA${key.publicKey64}` });
    const json = `{"fourEye":{"keys":[{"ref":"${alice.ref}"},{"algorithm":"ED25519","publicKey64":"${key.publicKey64}","type":"SIGNATURE"}],"m":1,"mode":"STRICT","n":2},"version":1}`;
    expect(resolve(policy).policyDigest).toBe(createHash("sha256").update(`SERVICE_POLICY_V1\0${json}`).digest("hex"));
  });

  it("does not change with the registry, and changes with every part of the policy", () => {
    const base = { mode: "STRICT", m: 1, n: 2, keys: [pin(alice), pin(bob)] };
    const digestOf = (more: object): string => policyDigest(crypto, read({ fourEye: { ...base, ...more } }));
    const ofAll = resolve(read({ fourEye: base })).policyDigest;
    expect(resolve(read({ fourEye: base }), lookupIn(alice, bob)).policyDigest).toBe(ofAll);
    expect(ofAll).toBe(digestOf({}));
    const others = [
      { mode: "LENIENT" },
      { m: 2 },
      { n: 1, keys: [pin(alice)] },
      { keys: [pin(bob), pin(alice)] },
      { keys: [pin(aliceAgain), pin(bob)] },
      { keys: [inline(1), pin(bob)] },
    ].map(digestOf);
    expect(new Set([digestOf({}), ...others]).size).toBe(others.length + 1);
  });
});
