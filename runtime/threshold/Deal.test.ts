/** A key that was whole at one member is dealt to all: it signs as before, in every quorum; who cheats is named. */
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { Secret } from "../../core/threshold/Secret.ts";
import { type Suite, suiteOf } from "../../core/threshold/Suite.ts";
import type {
  DealPackage,
  Element,
  KeyAndShare,
  SecretsFor,
  ShareIndex,
  ThresholdScheme,
  WholeKey,
} from "../../core/threshold/ThresholdScheme.ts";
import { simKeyCrypto } from "../../sim/crypto/SimKeyCrypto.ts";
import { nobleKeyCrypto } from "./NobleKeyCrypto.ts";

const parties = { threshold: 2, indexes: [1, 2, 3] };
const DEALER = 2;
const message = utf8ToBytes("pay 100 to alice");

const seed = (...numbers: ReadonlyArray<number>): Secret => {
  const bytes = new Uint8Array(32).fill(9);
  bytes.set(numbers);
  return new Secret(bytes);
};

const sharedOf = ({ shared }: Suite): ThresholdScheme => shared ?? expect.fail("no members share such a key");

/** The key as each member knows it. */
const wholeOf = ({ solo }: Suite, number: number) => {
  const { publicKey, secret } = solo.keyOf(seed(1, number));
  const scalar = solo.scalarOf?.(secret);
  const at = (me: ShareIndex): WholeKey => ({ dealer: DEALER, publicKey, secret: me === DEALER ? scalar : undefined });
  return { publicKey, secret, at };
};

type Told = { packages: Array<DealPackage>; shares: Map<ShareIndex, Map<ShareIndex, Secret>> };

const dealt = (suite: Suite, number: number, change: (told: Told) => void = () => undefined) => {
  const scheme = sharedOf(suite);
  const { at } = wholeOf(suite, number);
  const told: Told = {
    packages: parties.indexes.map((me) => scheme.dealPackage(seed(2, me), at(me), me, parties)),
    shares: new Map(
      parties.indexes.map((me) => [me, new Map(scheme.dealShares(seed(2, me), at(me), me, parties))] as const),
    ),
  };
  change(told);
  return parties.indexes.map((me) => {
    const received: SecretsFor = new Map(
      [...told.shares].flatMap(([from, to]) => (to.has(me) ? [[from, to.get(me) ?? seed()] as const] : [])),
    );
    const others = told.packages.filter(({ index }) => index !== me);
    return scheme.dealFinish(seed(2, me), at(me), me, parties, others, received);
  });
};

const madeOf = (all: ReturnType<typeof dealt>): ReadonlyArray<KeyAndShare> =>
  all.map((each) => Either.getOrThrowWith(each, ({ why }) => new Error(why)));

const blamedIn = (all: ReturnType<typeof dealt>) =>
  all.map((each) => (Either.isLeft(each) ? each.left.indexes : "no one"));

const signatureOf = (scheme: ThresholdScheme, held: ReadonlyArray<KeyAndShare>): string => {
  const nonces = held.map(({ share }) => seed(3, share.index));
  const commitments = held.map(({ share }, at) => scheme.commit(nonces[at] ?? seed(), share));
  const shares = held.map((each, at) =>
    Either.getOrThrow(scheme.sign(nonces[at] ?? seed(), each, commitments, message)),
  );
  const [first] = held;
  if (first === undefined) throw new RangeError("nobody signs");
  return Either.getOrThrow(scheme.aggregate(first.key, commitments, message, shares));
};

const suite = (of: typeof nobleKeyCrypto, algorithm: string, scheme: string): Suite =>
  suiteOf(of, algorithm, scheme) ?? expect.fail("there is no such suite");

const suites: ReadonlyArray<readonly [string, Suite]> = [
  ["Ed25519", suite(nobleKeyCrypto, "ED25519", "EdDSA")],
  ["BIP 340", suite(nobleKeyCrypto, "SECP256K1", "BIP340")],
  ["Taproot", suite(nobleKeyCrypto, "SECP256K1", "TAPROOT")],
  ["toy", suite(simKeyCrypto, "ED25519", "EdDSA")],
];

describe.each(suites)("a whole key of %s", (_name, suite) => {
  // Whether y is even is drawn anew by each number.
  it.each([1, 2, 3, 4])("is dealt: its public key stays, and every quorum signs with it (key %d)", (number) => {
    const scheme = sharedOf(suite);
    const { publicKey } = wholeOf(suite, number);
    const held = madeOf(dealt(suite, number));
    const [one, two, three] = held as [KeyAndShare, KeyAndShare, KeyAndShare];
    for (const { key } of held) {
      expect(scheme.publicKey(key)).toBe(publicKey);
      expect([key.threshold, key.commitments, [...key.verifyingShares]]).toEqual([
        2,
        one.key.commitments,
        [...one.key.verifyingShares],
      ]);
    }
    for (const quorum of [[one, two], [one, three], [two, three], held])
      expect(suite.verify(publicKey, message, signatureOf(scheme, quorum))).toBe(true);
  });

  it("is refreshed and repaired afterwards like any other", () => {
    const scheme = sharedOf(suite);
    const held = madeOf(dealt(suite, 1));
    const [one, two, three] = held as [KeyAndShare, KeyAndShare, KeyAndShare];
    const parts = [one, three].map(({ share }) => scheme.repairParts(seed(4, share.index), share, [1, 3], 2));
    const sums = [1, 3].map((helper) => scheme.repairSum(parts.map((each) => each.get(helper) ?? seed())) ?? seed());
    const repaired = Either.getOrThrow(scheme.repairJoin(sums, one.key, 2));
    expect(bytesToHex(repaired.secret.expose())).toBe(bytesToHex(two.share.secret.expose()));
    const packages = parties.indexes.map((me) => scheme.refreshPackage(seed(5, me), me, parties));
    const shares = parties.indexes.map((me) => [me, scheme.refreshShares(seed(5, me), me, parties)] as const);
    const renewed = held.map((old) => {
      const me = old.share.index;
      const told = new Map(
        shares.flatMap(([from, to]) => (from === me ? [] : [[from, to.get(me) ?? seed()] as const])),
      );
      const others = packages.filter(({ index }) => index !== me);
      return Either.getOrThrow(scheme.refreshFinish(seed(5, me), old, others, told));
    });
    expect(suite.verify(wholeOf(suite, 1).publicKey, message, signatureOf(scheme, renewed.slice(1)))).toBe(true);
  });

  it("leaves the dealer without what others add: no share is a value of its polynomial", () => {
    const scheme = sharedOf(suite);
    const held = madeOf(dealt(suite, 1));
    const told = scheme.dealShares(seed(2, DEALER), wholeOf(suite, 1).at(DEALER), DEALER, parties);
    for (const { share } of held)
      if (share.index !== DEALER)
        expect(bytesToHex(share.secret.expose())).not.toBe(
          bytesToHex(told.get(share.index)?.expose() ?? seed().expose()),
        );
  });

  it("is refused where the dealer deals another one, or what is beside its polynomial; it is named", () => {
    const other = wholeOf(suite, 7);
    const foreign = blamedIn(
      dealt(suite, 1, ({ packages, shares }) => {
        const scheme = sharedOf(suite);
        packages[1] = scheme.dealPackage(seed(2, DEALER), other.at(DEALER), DEALER, parties);
        shares.set(DEALER, new Map(scheme.dealShares(seed(2, DEALER), other.at(DEALER), DEALER, parties)));
      }),
    );
    expect([foreign[0], foreign[2]]).toEqual([[DEALER], [DEALER]]);
    const beside = blamedIn(
      dealt(suite, 1, ({ shares }) => shares.get(DEALER)?.set(3, shares.get(1)?.get(3) ?? seed())),
    );
    expect([beside[0], beside[2]]).toEqual(["no one", [DEALER]]);
    const short = blamedIn(
      dealt(suite, 1, ({ packages }) => {
        packages[1] = { index: DEALER, commitments: packages[1]?.commitments.slice(0, 1) ?? [] };
      }),
    );
    expect([short[0], short[2]]).toEqual([[DEALER], [DEALER]]);
  });

  it("is refused where another member adds a constant, lies to one, or says nothing; it is named", () => {
    const constant = blamedIn(
      dealt(suite, 1, ({ packages }) => {
        const commitments: ReadonlyArray<Element> = packages[1]?.commitments ?? [];
        packages[0] = { index: 1, commitments };
      }),
    );
    expect([constant[1], constant[2]]).toEqual([[1], [1]]);
    const beside = blamedIn(
      dealt(suite, 1, ({ shares }) => shares.get(1)?.set(3, shares.get(DEALER)?.get(3) ?? seed())),
    );
    expect([beside[1], beside[2]]).toEqual(["no one", [1]]);
    const silent = blamedIn(dealt(suite, 1, ({ shares }) => void shares.get(1)?.delete(3)));
    expect([silent[1], silent[2]]).toEqual(["no one", [1]]);
  });
});

it("is dealt also on a polynomial whose value at the dealer is zero: an honest member would name nobody but itself", () => {
  const bip340 = suite(nobleKeyCrypto, "SECP256K1", "BIP340");
  const { Fn, BASE } = secp256k1.Point;
  const { publicKey, at } = wholeOf(bip340, 1);
  const key = Fn.fromBytes(at(DEALER).secret?.expose() ?? seed().expose());
  const slope = Fn.neg(Fn.div(key, BigInt(DEALER)));
  const made = dealt(bip340, 1, ({ packages, shares }) => {
    const commitments = [key, slope].map((each) => BASE.multiply(each).toHex() as Element);
    packages[1] = { index: DEALER, commitments };
    const value = (x: ShareIndex): Secret => new Secret(Fn.toBytes(Fn.add(key, Fn.mul(slope, BigInt(x)))));
    shares.set(DEALER, new Map([1, 3].map((x) => [x, value(x)])));
  });
  const held = madeOf([1, 3].flatMap((index) => made[index - 1] ?? []));
  expect(bip340.verify(publicKey, message, signatureOf(sharedOf(bip340), held))).toBe(true);
});

it.each(["SECP256K1", "P256"])("a key of ECDSA over %s has no scalar that members share", (algorithm) => {
  expect(suite(nobleKeyCrypto, algorithm, "ECDSA").solo.scalarOf).toBeUndefined();
});
