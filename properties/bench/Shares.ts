/** What a member's share of a signature of Ed25519 takes of a processor, by library, and beside a signature of one key. */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { Either } from "effect";
import { Secret } from "../../core/threshold/Secret.ts";
import type { KeyAndShare, SecretsFor, ShareIndex, ThresholdScheme } from "../../core/threshold/ThresholdScheme.ts";
import { ed25519Scheme } from "../../runtime/threshold/Schemes.ts";
import { sodiumScheme } from "../../server/crypto/SodiumScheme.ts";
import type { Figures } from "./Cluster.ts";
import { median, rounded } from "./Statistics.ts";

const PARTIES = { threshold: 2, indexes: [1, 2, 3] };
const ROUNDS = 5;
/** In each round; the first one is thrown away, while Node compiles. */
const SHARES = 100;
const SIGNATURES = 2_000;

const secret = (): Secret => new Secret(randomBytes(32));

/** A key of three, as the first two hold it. */
const made = (scheme: ThresholdScheme): readonly [KeyAndShare, KeyAndShare] => {
  const seeds = new Map(PARTIES.indexes.map((me) => [me, secret()]));
  const seedOf = (me: ShareIndex): Secret => seeds.get(me) ?? secret();
  const packages = PARTIES.indexes.map((me) => scheme.keygenPackage(seedOf(me), me, PARTIES));
  const others = (me: ShareIndex) => packages.filter(({ index }) => index !== me);
  const told = PARTIES.indexes.map(
    (me) => [me, Either.getOrThrow(scheme.keygenShares(seedOf(me), me, PARTIES, others(me)))] as const,
  );
  const held = (me: ShareIndex): KeyAndShare => {
    const received: SecretsFor = new Map(
      told.flatMap(([from, all]) => {
        const share = all.get(me);
        return share === undefined ? [] : [[from, share] as const];
      }),
    );
    return Either.getOrThrow(scheme.keygenFinish(seedOf(me), me, PARTIES, others(me), received));
  };
  return [held(1), held(2)];
};

/** Microseconds of a processor that each of so many calls takes. */
const microsOf = (count: number, call: () => void): number => {
  const before = process.cpuUsage();
  for (let at = 0; at < count; at++) call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
};

/** Signs another message with each call, whose commitments were exchanged before. */
const sharing = (scheme: ThresholdScheme): (() => number) => {
  const [own, other] = made(scheme);
  return () => {
    const asked = Array.from({ length: SHARES }, () => {
      const nonce = secret();
      const commitments = [scheme.commit(nonce, own.share), scheme.commit(secret(), other.share)];
      return { nonce, commitments, message: randomBytes(32) };
    });
    return microsOf(SHARES, () => {
      const next = asked.pop();
      if (next !== undefined) Either.getOrThrow(scheme.sign(next.nonce, own, next.commitments, next.message));
    });
  };
};

/** Medians of rounds by turns: processor microseconds of a share, and ratios. */
export const measureShares = (): Figures => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const message = randomBytes(32);
  const [portable, native] = [sharing(ed25519Scheme), sharing(sodiumScheme)];
  const rounds = Array.from({ length: 1 + ROUNDS }, () => ({
    portable: portable(),
    native: native(),
    one: microsOf(SIGNATURES, () => void sign(null, message, privateKey)),
  })).slice(1);
  return {
    shareMicros: rounded(median(rounds.map((each) => each.native)), 0),
    shareOverSignatureOfOneKey: rounded(median(rounds.map((each) => each.native / each.one)), 1),
    shareOverPortable: rounded(median(rounds.map((each) => each.native / each.portable))),
  };
};
