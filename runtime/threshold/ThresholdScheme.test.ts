/** What holds of every scheme: keys made together sign, in every quorum; who sends what is wrong is named. */
import { createPublicKey, verify as verifyNatively } from "node:crypto";
import { inspect } from "node:util";
import { schnorr } from "@noble/curves/secp256k1.js";
import { hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { Secret } from "../../core/threshold/Secret.ts";
import type {
  Blame,
  Element,
  GroupKey,
  KeyAndShare,
  Scalar,
  SecretsFor,
  ShareIndex,
  ThresholdScheme,
} from "../../core/threshold/ThresholdScheme.ts";
import { toyScheme } from "../../sim/crypto/ToyThreshold.ts";
import { bip340Scheme, ed25519Scheme, taprootScheme } from "./Schemes.ts";

const seed = (...numbers: ReadonlyArray<number>): Secret => {
  const bytes = new Uint8Array(32).fill(7);
  bytes.set(numbers);
  return new Secret(bytes);
};

const right = <A>(either: Either.Either<A, Blame>): A =>
  Either.getOrThrowWith(either, ({ why, indexes }) => new Error(`${why}: ${indexes.join(", ")}`));

const blamed = (either: Either.Either<unknown, Blame>): ReadonlyArray<ShareIndex> | undefined =>
  Either.isLeft(either) ? either.left.indexes : undefined;

const othersOf = <A extends { readonly index: ShareIndex }>(all: ReadonlyArray<A>, me: ShareIndex) =>
  all.filter(({ index }) => index !== me);

/** What each member is told, by itself. */
const toEach = (told: ReadonlyMap<ShareIndex, SecretsFor>, me: ShareIndex): Map<ShareIndex, Secret> =>
  new Map([...told].flatMap(([from, all]) => (all.has(me) ? [[from, all.get(me) ?? seed()]] : [])));

class Ceremony {
  readonly scheme: ThresholdScheme;
  readonly parties;
  readonly #number: number;

  constructor(scheme: ThresholdScheme, threshold: number, indexes: ReadonlyArray<ShareIndex>, number = 0) {
    this.scheme = scheme;
    this.parties = { threshold, indexes };
    this.#number = number;
  }

  seedOf(index: ShareIndex): Secret {
    return seed(1, index, this.#number);
  }

  packages() {
    return this.parties.indexes.map((each) => this.scheme.keygenPackage(this.seedOf(each), each, this.parties));
  }

  shares(packages = this.packages()): Map<ShareIndex, SecretsFor> {
    return new Map(
      this.parties.indexes.map((each) => [
        each,
        right(this.scheme.keygenShares(this.seedOf(each), each, this.parties, othersOf(packages, each))),
      ]),
    );
  }

  make(): ReadonlyArray<KeyAndShare> {
    const packages = this.packages();
    const shares = this.shares(packages);
    return this.parties.indexes.map((each) =>
      right(
        this.scheme.keygenFinish(this.seedOf(each), each, this.parties, othersOf(packages, each), toEach(shares, each)),
      ),
    );
  }

  refresh(held: ReadonlyArray<KeyAndShare>): ReadonlyArray<KeyAndShare> {
    const { scheme, parties } = this;
    const packages = parties.indexes.map((each) => scheme.refreshPackage(this.seedOf(each), each, parties));
    const shares = new Map(
      parties.indexes.map((each) => [each, scheme.refreshShares(this.seedOf(each), each, parties)]),
    );
    return held.map((each) => {
      const me = each.share.index;
      return right(scheme.refreshFinish(this.seedOf(me), each, othersOf(packages, me), toEach(shares, me)));
    });
  }
}

const message = utf8ToBytes("pay 100 to alice");

/** Both rounds, by these members; the coordinator knows the key of the first. */
const signed = (scheme: ThresholdScheme, held: ReadonlyArray<KeyAndShare>, said = message) => {
  const seeds = held.map(({ share }) => seed(2, share.index));
  const commitments = held.map(({ share }, at) => scheme.commit(seeds[at] ?? seed(), share));
  const shares = held.map((each, at) => right(scheme.sign(seeds[at] ?? seed(), each, commitments, said)));
  const [first] = held;
  if (first === undefined) throw new RangeError("nobody signs");
  return { key: first.key, seeds, commitments, shares, of: scheme.aggregate(first.key, commitments, said, shares) };
};

const publicIn = ({ commitments, verifyingShares }: GroupKey) => [commitments, [...verifyingShares]];

const hexOf = (secret: Secret): string => Buffer.from(secret.expose()).toString("hex");

const spkiOfEd25519 = "302a300506032b6570032100";

const schemes: ReadonlyArray<readonly [string, ThresholdScheme, (key: string, signature: string) => boolean]> = [
  [
    "Ed25519",
    ed25519Scheme,
    (key, signature) => {
      const der = Buffer.from(spkiOfEd25519 + key, "hex");
      const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
      return verifyNatively(null, message, publicKey, Buffer.from(signature, "hex"));
    },
  ],
  ["BIP 340", bip340Scheme, (key, signature) => schnorr.verify(hexToBytes(signature), message, hexToBytes(key))],
  ["Taproot", taprootScheme, (key, signature) => schnorr.verify(hexToBytes(signature), message, hexToBytes(key))],
  ["toy", toyScheme, (key, signature) => toyScheme.verify(key, message, signature)],
];

const pairs: ReadonlyArray<readonly [number, number]> = [
  [0, 1],
  [0, 2],
  [1, 2],
];

const pick = (all: ReadonlyArray<KeyAndShare>, ...at: ReadonlyArray<number>): ReadonlyArray<KeyAndShare> =>
  all.filter((_, index) => at.includes(index));

describe.each(schemes)("%s", (_name, scheme, verifies) => {
  const ceremony = new Ceremony(scheme, 2, [1, 2, 3]);
  const held = ceremony.make();
  const parties = ceremony.parties;
  const [first, second, third] = held as [KeyAndShare, KeyAndShare, KeyAndShare];
  const publicKey = scheme.publicKey(first.key);

  it("gives all members the same key, and each a share of its own", () => {
    for (const each of held) expect(publicIn(each.key)).toEqual(publicIn(first.key));
    expect(new Set(held.map(({ share }) => hexOf(share.secret))).size).toBe(3);
    expect(new Ceremony(scheme, 2, [1, 2, 3]).make().map(({ share }) => hexOf(share.secret))).toEqual(
      held.map(({ share }) => hexOf(share.secret)),
    );
  });

  it("signs in every quorum, under a public key that others verify", () => {
    for (const [left, other] of pairs) {
      const signature = right(signed(scheme, pick(held, left, other)).of);
      expect(verifies(publicKey, signature)).toBe(true);
      expect(scheme.verify(publicKey, message, signature)).toBe(true);
      expect(scheme.verify(publicKey, utf8ToBytes("pay 100 to mallory"), signature)).toBe(false);
      expect(scheme.verify(publicKey, message, `${signature.slice(0, -2)}zz`)).toBe(false);
    }
    expect(verifies(publicKey, right(signed(scheme, held).of))).toBe(true);
  });

  // Whether a key's y is even is drawn anew: BIP 340 and Taproot treat both.
  it("makes keys that sign from other seeds, among other members", () => {
    for (let number = 1; number <= 4; number++) {
      const all = new Ceremony(scheme, 3, [2, 3, 5, 9], number).make();
      const [one] = all as [KeyAndShare];
      for (const quorum of [pick(all, 0, 1, 2), pick(all, 1, 2, 3), all])
        expect(verifies(scheme.publicKey(one.key), right(signed(scheme, quorum).of))).toBe(true);
    }
  });

  it("names whose package proves nothing, and whose share lies beside its polynomial", () => {
    const packages = ceremony.packages();
    const [, , other] = new Ceremony(scheme, 2, [1, 2, 3], 9).packages();
    const swapped = packages.map((each) => (each.index === 3 ? { ...each, proof: other?.proof ?? "" } : each));
    expect(blamed(scheme.keygenShares(ceremony.seedOf(1), 1, parties, othersOf(swapped, 1)))).toEqual([3]);
    const broken = packages.map((each) => (each.index === 2 ? { ...each, commitments: ["00" as Element] } : each));
    expect(blamed(scheme.keygenShares(ceremony.seedOf(1), 1, parties, othersOf(broken, 1)))).toEqual([2]);
    expect(blamed(scheme.keygenShares(ceremony.seedOf(1), 1, parties, othersOf(packages, 1).slice(1)))).toEqual([2]);
    const received = toEach(ceremony.shares(packages), 1);
    received.set(2, received.get(3) ?? seed());
    expect(blamed(scheme.keygenFinish(ceremony.seedOf(1), 1, parties, othersOf(packages, 1), received))).toEqual([2]);
    received.delete(2);
    expect(blamed(scheme.keygenFinish(ceremony.seedOf(1), 1, parties, othersOf(packages, 1), received))).toEqual([2]);
  });

  it("names whose share of a signature is wrong, and takes none for another message or list", () => {
    const { key, commitments, shares } = signed(scheme, [first, second]);
    const [one, two] = shares as [(typeof shares)[0], (typeof shares)[0]];
    const forged = { ...two, scalar: one.scalar };
    expect(blamed(scheme.aggregate(key, commitments, message, [one, forged]))).toEqual([2]);
    const unread = { ...two, scalar: "ff".repeat(two.scalar.length / 2) as Scalar };
    expect(blamed(scheme.aggregate(key, commitments, message, [one, unread]))).toEqual([2]);
    expect(blamed(scheme.aggregate(key, commitments, message, [one]))).toEqual([2]);
    expect(blamed(scheme.aggregate(key, commitments, utf8ToBytes("another"), shares))).toEqual([1, 2]);
  });

  it("gives no share for a list that is too short, of strangers, repeated, or without its own commitments", () => {
    const nonce = seed(2, 1);
    const own = scheme.commit(nonce, first.share);
    const theirs = scheme.commit(seed(2, 2), second.share);
    const attempted = (...list: ReadonlyArray<typeof own>) => blamed(scheme.sign(nonce, first, list, message));
    expect(attempted(own, theirs)).toBeUndefined();
    expect(attempted(own)).toEqual([]);
    expect(attempted(own, own)).toEqual([]);
    expect(attempted(own, { ...theirs, index: 4 })).toEqual([4]);
    expect(attempted(theirs, scheme.commit(seed(2, 3), third.share))).toEqual([]);
    expect(attempted({ ...own, hiding: theirs.hiding }, theirs)).toEqual([]);
    expect(attempted(own, { ...theirs, binding: "00" as Element })).toEqual([2]);
  });

  it("refreshes shares under the same public key; old and new do not sign together", () => {
    const fresh = new Ceremony(scheme, 2, [1, 2, 3], 5).refresh(held);
    for (const [left, other] of pairs)
      expect(verifies(publicKey, right(signed(scheme, pick(fresh, left, other)).of))).toBe(true);
    for (const [at, { key, share }] of fresh.entries()) {
      expect(scheme.publicKey(key)).toBe(publicKey);
      expect(publicIn(key)).toEqual(publicIn(fresh[0]?.key ?? key));
      expect(hexOf(share.secret)).not.toBe(hexOf(held[at]?.share.secret ?? seed()));
    }
    const [newFirst] = fresh as [KeyAndShare];
    expect(blamed(signed(scheme, [newFirst, second]).of)).toEqual([2]);
    const again = new Ceremony(scheme, 2, [1, 2, 3], 6).refresh(fresh);
    expect(verifies(publicKey, right(signed(scheme, pick(again, 0, 2)).of))).toBe(true);
  });

  it("refuses a refresh that would change the key, and names by whom", () => {
    const packages = parties.indexes.map((each) => scheme.refreshPackage(seed(3, each), each, parties));
    const received = new Map(
      [2, 3].map((each) => [each, scheme.refreshShares(seed(3, each), each, parties).get(1) ?? seed()]),
    );
    const finish = (list: typeof packages, told = received) =>
      blamed(scheme.refreshFinish(seed(3, 1), first, othersOf(list, 1), told));
    expect(finish(packages)).toBeUndefined();
    // Of a polynomial with a constant term: the share of a key generation.
    const constant = toEach(ceremony.shares(), 1).get(2) ?? seed();
    expect(finish(packages, new Map([...received, [2, constant]]))).toEqual([2]);
    const longer = packages.map((each) =>
      each.index === 3 ? { ...each, commitments: [...each.commitments, ...each.commitments] } : each,
    );
    expect(finish(longer)).toEqual([3]);
    expect(finish(packages.slice(0, 2))).toEqual([3]);
  });

  it("repairs a lost share by any helpers, none of which sees it", () => {
    for (const [left, other] of pairs) {
      const helpers = pick(held, left, other);
      const indexes = helpers.map(({ share }) => share.index);
      const lost = held.find(({ share }) => !indexes.includes(share.index)) ?? first;
      const target = lost.share.index;
      const parts = helpers.map(({ share }) => scheme.repairParts(seed(4, share.index), share, indexes, target));
      const sums = indexes.map((each) => scheme.repairSum(parts.map((of) => of.get(each) ?? seed())) ?? seed());
      const repaired = right(scheme.repairJoin(sums, first.key, target));
      expect(hexOf(repaired.secret)).toBe(hexOf(lost.share.secret));
      for (const secret of [...sums, ...parts.flatMap((of) => [...of.values()])])
        expect(held.map(({ share }) => hexOf(share.secret))).not.toContain(hexOf(secret));
      expect(blamed(scheme.repairJoin(sums.slice(1), first.key, target))).toEqual([]);
      expect(blamed(scheme.repairJoin(sums, first.key, target === 1 ? 2 : 1))).toEqual([]);
    }
    // Above every order of a group here, written either way round.
    const noScalar = new Secret(new Uint8Array(first.share.secret.expose().length).fill(0xff));
    expect(scheme.repairSum([first.share.secret, noScalar])).toBeUndefined();
    expect(scheme.repairSum([new Secret(new Uint8Array(1))])).toBeUndefined();
    expect(() => scheme.repairParts(seed(4), first.share, [1, 2], 2)).toThrow(RangeError);
    expect(() => scheme.repairParts(seed(4), first.share, [2, 3], 1)).toThrow(RangeError);
  });

  it("makes no key of parties that are none", () => {
    for (const [threshold, indexes] of [
      [1, [1, 2]],
      [3, [1, 2]],
      [2, [1, 1]],
      [2, [2, 3]],
      [2, [0, 1]],
    ] as const)
      expect(() => scheme.keygenPackage(seed(), 1, { threshold, indexes })).toThrow(RangeError);
  });
});

it("shows no secret in any print of it", () => {
  const secret = seed(1, 2, 3);
  for (const text of [String(secret), JSON.stringify({ secret }), inspect(secret), inspect({ secret }, { depth: 9 })])
    expect(text).toMatch(/^[^0-9]*<secret>[^0-9]*$/);
  expect(Object.keys(secret)).toEqual([]);
  secret.wipe();
  expect(secret.expose()).toEqual(new Uint8Array(32));
});
