/** Whatever the portable library says of keys and signatures, libsodium says too, byte for byte. */
import { ED25519_TORSION_SUBGROUP, ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Secret } from "../../core/threshold/Secret.ts";
import type {
  KeyAndShare,
  NonceCommitments,
  Scalar,
  SecretsFor,
  ShareIndex,
  SignatureShare,
  ThresholdScheme,
} from "../../core/threshold/ThresholdScheme.ts";
import { ed25519Scheme } from "../../runtime/threshold/Schemes.ts";
import { SodiumPoint } from "./SodiumPoint.ts";
import { sodiumScheme } from "./SodiumScheme.ts";

const { Point } = ed25519;
const { Fn } = Point;

type Drawn = Uint8Array;

const seedOf = (drawn: Drawn, ...numbers: ReadonlyArray<number>): Secret => {
  const bytes = Uint8Array.from(drawn);
  bytes.set(numbers);
  return new Secret(bytes);
};

const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, each: unknown) => {
      if (each instanceof Secret) return bytesToHex(each.expose());
      return each instanceof Map ? [...(each as ReadonlyMap<unknown, unknown>)] : each;
    }),
  );

const othersOf = <A extends { readonly index: ShareIndex }>(all: ReadonlyArray<A>, me: ShareIndex) =>
  all.filter(({ index }) => index !== me);

const received = (told: ReadonlyMap<ShareIndex, SecretsFor>, me: ShareIndex): SecretsFor =>
  new Map([...told].flatMap(([from, all]) => (all.has(me) ? [[from, all.get(me) as Secret] as const] : [])));

/** Everything that members say and hold, from a key's making to its use. */
const life = (scheme: ThresholdScheme, threshold: number, total: number, drawn: Drawn, message: Uint8Array) => {
  const indexes = Array.from({ length: total }, (_, at) => at + 1);
  const parties = { threshold, indexes };
  const packages = indexes.map((me) => scheme.keygenPackage(seedOf(drawn, 1, me), me, parties));
  const told = new Map(
    indexes.map((me) => [
      me,
      Either.getOrThrow(scheme.keygenShares(seedOf(drawn, 1, me), me, parties, othersOf(packages, me))),
    ]),
  );
  const made = indexes.map((me) =>
    Either.getOrThrow(
      scheme.keygenFinish(seedOf(drawn, 1, me), me, parties, othersOf(packages, me), received(told, me)),
    ),
  );
  const changes = indexes.map((me) => scheme.refreshPackage(seedOf(drawn, 2, me), me, parties));
  const more = new Map(indexes.map((me) => [me, scheme.refreshShares(seedOf(drawn, 2, me), me, parties)]));
  const held: ReadonlyArray<KeyAndShare> = made.map((old, at) => {
    const me = at + 1;
    return Either.getOrThrow(
      scheme.refreshFinish(seedOf(drawn, 2, me), old, othersOf(changes, me), received(more, me)),
    );
  });
  // The last ones sign, so that the first index is not always there.
  const signers = held.slice(total - threshold);
  const [first] = signers;
  if (first === undefined) throw new Error("nobody signs");
  const commitments = signers.map(({ share }) => scheme.commit(seedOf(drawn, 3, share.index), share));
  const shares = signers.map((each) =>
    Either.getOrThrow(scheme.sign(seedOf(drawn, 3, each.share.index), each, commitments, message)),
  );
  const aggregate = (list: ReadonlyArray<NonceCommitments>, of: ReadonlyArray<SignatureShare>) =>
    scheme.aggregate(first.key, list, message, of);
  const [one, ...rest] = shares;
  const [own, ...theirs] = commitments;
  if (one === undefined || own === undefined) throw new Error("nobody signs");
  const wrong = { ...one, scalar: bytesToHex(Fn.toBytes(5n)) as Scalar };
  const refused = [
    aggregate(commitments, [wrong, ...rest]),
    aggregate([{ ...own, hiding: own.binding }, ...theirs], shares),
    ...ED25519_TORSION_SUBGROUP.map((hex) => aggregate([{ ...own, hiding: hex as never }, ...theirs], shares)),
    aggregate(theirs, rest),
    aggregate(commitments, rest),
    scheme.sign(seedOf(drawn, 4), first, commitments, message),
  ];
  const helpers = signers.map(({ share }) => share.index);
  const parts = signers.map(({ share }) => scheme.repairParts(seedOf(drawn, 5, share.index), share, helpers, 1));
  const sums = helpers.map(
    (helper) => scheme.repairSum(parts.flatMap((each) => each.get(helper) ?? [])) ?? seedOf(drawn, 6),
  );
  const signature = Either.getOrThrow(aggregate(commitments, shares));
  return plain({
    packages,
    told: [...told],
    held,
    commitments,
    shares,
    refused,
    signature,
    publicKey: scheme.publicKey(first.key),
    isGood: ed25519Scheme.verify(scheme.publicKey(first.key), message, signature),
    repaired: scheme.repairJoin(sums, first.key, 1),
  });
};

describe("the scheme over libsodium", () => {
  it("says and holds what the portable one does, from a key's making to its use, lies included", () => {
    const sizes = fc.constantFrom([2, 3], [2, 4], [3, 4]);
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(sizes, bytes, fc.uint8Array({ maxLength: 80 }), ([threshold = 2, total = 3], drawn, message) => {
        const ours = life(sodiumScheme, threshold, total, drawn, message);
        expect(ours).toEqual(life(ed25519Scheme, threshold, total, drawn, message));
        expect(ours).toMatchObject({ isGood: true });
      }),
      { numRuns: 5, examples: [[[2, 3], new Uint8Array(32), new Uint8Array(0)]] },
    );
  }, 120_000);
});

const outcome = (read: () => { readonly toHex: () => string }): string => {
  try {
    return read().toHex();
  } catch {
    return "refused";
  }
};

/** The portable library reads any point of the curve; the protocol then refuses those outside the subgroup. */
const portable = (bytes: Uint8Array): string =>
  outcome(() => {
    const point = Point.fromBytes(bytes);
    if (!point.isTorsionFree()) throw new RangeError("not in the subgroup");
    return point;
  });

const littleEndian = (value: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, at) => Number((value >> BigInt(8 * at)) & 0xffn));

describe("points over libsodium", () => {
  it("are those of the subgroup of prime order, each in its one encoding", () => {
    const torsion = ED25519_TORSION_SUBGROUP.map((hex) => Point.fromHex(hex));
    const point = Point.BASE.multiply(123456789n);
    const { ORDER } = Point.Fp;
    const edges = [0n, 1n, 2n, ORDER - 1n, ORDER, ORDER + 1n, ORDER + 2n].flatMap((y) =>
      [0n, 1n].map((sign) => littleEndian(y | (sign << 255n))),
    );
    const all = [...torsion, ...torsion.map((each) => point.add(each))].map((each) => each.toBytes());
    for (const bytes of [...all, ...edges, new Uint8Array(31), new Uint8Array(33)])
      expect(outcome(() => SodiumPoint.fromBytes(bytes))).toBe(portable(bytes));
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
        expect(outcome(() => SodiumPoint.fromBytes(bytes))).toBe(portable(bytes));
      }),
      { numRuns: 60 },
    );
  });

  it("add up to what the portable ones do, the identity and multiples of the order among them", () => {
    const times = fc.oneof(
      fc.bigInt({ min: 0n, max: Fn.ORDER - 1n }),
      fc.constantFrom(0n, 1n, 2n, 8n, Fn.ORDER - 1n, Fn.ORDER - 2n),
    );
    fc.assert(
      fc.property(times, times, times, (a, b, c) => {
        const sum = <P extends { readonly add: (other: P) => P; readonly toHex: () => string }>(of: {
          readonly BASE: P & { readonly multiplyUnsafe: (by: bigint) => P };
          readonly other: P & { readonly multiplyUnsafe: (by: bigint) => P };
        }) => of.BASE.multiplyUnsafe(a).add(of.other.multiplyUnsafe(b));
        const hex = Point.BASE.multiply(77n).toHex();
        const [ours, theirs] = [SodiumPoint.fromHex(hex), Point.fromHex(hex)];
        const left = sum({ BASE: SodiumPoint.BASE, other: ours });
        const right = sum({ BASE: Point.BASE, other: theirs });
        expect(left.toHex()).toBe(right.toHex());
        expect(left.is0()).toBe(right.is0());
        expect(left.double().subtract(ours).negate().toHex()).toBe(right.double().subtract(theirs).negate().toHex());
        expect(left.multiplyUnsafe(c).toHex()).toBe(right.multiplyUnsafe(c).toHex());
        expect(left.subtract(left).equals(SodiumPoint.ZERO)).toBe(true);
        expect(left.equals(ours)).toBe(right.equals(theirs));
        expect(left.clearCofactor().is0()).toBe(right.clearCofactor().is0());
      }),
      { numRuns: 60 },
    );
    expect(() => SodiumPoint.BASE.multiply(0n)).toThrow(RangeError);
    expect(() => SodiumPoint.BASE.multiply(Fn.ORDER)).toThrow(RangeError);
    expect(SodiumPoint.fromAffine(Point.BASE.toAffine())).toMatchObject(Point.BASE.toAffine());
    expect(hexToBytes(SodiumPoint.BASE.toHex())).toEqual(Point.BASE.toBytes());
  });
});
