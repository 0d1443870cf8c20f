/**
 * The vectors of RFC 9591 and of the Zcash Foundation: the library's suites give every published value, and sums,
 * weights and the Taproot tweak, which are ours, the published ones of repair and key generation.
 */
import { existsSync, readFileSync } from "node:fs";
import type { FROST } from "@noble/curves/abstract/frost.js";
import { ed25519_FROST, ristretto255_FROST } from "@noble/curves/ed25519.js";
import { ed448_FROST } from "@noble/curves/ed448.js";
import { p256_FROST } from "@noble/curves/nist.js";
import { schnorr_FROST, secp256k1, secp256k1_FROST } from "@noble/curves/secp256k1.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { Secret } from "../../core/threshold/Secret.ts";
import type { Element, GroupKey } from "../../core/threshold/ThresholdScheme.ts";
import { sodiumFrost } from "../../server/crypto/SodiumScheme.ts";
import { weight } from "./Group.ts";
import { tweaked } from "./Taproot.ts";

const vectors = new URL("../../../shared/vectors/frost/", import.meta.url);
const absent = `${vectors.pathname} is not here`;
const read = (name: string) => JSON.parse(readFileSync(new URL(name, vectors), "utf8"));
const isHere = (name: string): boolean => existsSync(new URL(name, vectors));

const suites: ReadonlyArray<readonly [string, string, FROST]> = [
  ["ed25519", "ed25519-sha512", ed25519_FROST],
  ["ed25519", "ed25519-sha512", sodiumFrost],
  ["ed448", "ed448-shake256", ed448_FROST],
  ["p256", "p256-sha256", p256_FROST],
  ["ristretto255", "ristretto255-sha512", ristretto255_FROST],
  ["secp256k1", "secp256k1-sha256", secp256k1_FROST],
  ["secp256k1-tr", "", schnorr_FROST],
];

interface Signing {
  readonly config: Record<"MIN_PARTICIPANTS" | "MAX_PARTICIPANTS", string>;
  readonly inputs: {
    readonly group_secret_key: string;
    readonly verifying_key_key?: string;
    readonly group_public_key?: string;
    readonly message: string;
    readonly share_polynomial_coefficients: ReadonlyArray<string>;
    readonly participant_shares: ReadonlyArray<{ readonly identifier: number; readonly participant_share: string }>;
  };
  readonly round_one_outputs: {
    readonly outputs: ReadonlyArray<{ readonly identifier: number } & Record<string, string>>;
  };
  readonly round_two_outputs: {
    readonly outputs: ReadonlyArray<{ readonly identifier: number; readonly sig_share: string }>;
  };
  readonly final_output: { readonly sig: string };
}

const reproduce = (frost: FROST, { config, inputs, round_one_outputs, round_two_outputs, final_output }: Signing) => {
  const message = hexToBytes(inputs.message);
  const signers = { min: Number(config.MIN_PARTICIPANTS), max: Number(config.MAX_PARTICIPANTS) };
  const nameOf = (index: number): string => frost.Identifier.fromNumber(index);
  // The dealer's polynomial, drawn as the vector says.
  const { Fn } = frost.utils;
  const coefficients = inputs.share_polynomial_coefficients.map((each) => Fn.fromBytes(hexToBytes(each)));
  const { commitment } = frost.utils.generateSecretPolynomial(
    signers,
    hexToBytes(inputs.group_secret_key),
    coefficients,
  );
  const shareOf = (index: number) => {
    const found = inputs.participant_shares.find(({ identifier }) => identifier === index);
    return { identifier: nameOf(index), signingShare: hexToBytes(found?.participant_share ?? "") };
  };
  const known = { signers, commitments: commitment, verifyingShares: {} as Record<string, Uint8Array<ArrayBuffer>> };
  expect(bytesToHex(commitment[0] ?? new Uint8Array())).toBe(inputs.verifying_key_key ?? inputs.group_public_key);
  const drawn = round_one_outputs.outputs.map((output) => {
    const share = shareOf(output.identifier);
    frost.validateSecret(share, known);
    const random = [output["hiding_nonce_randomness"], output["binding_nonce_randomness"]];
    const made = frost.commit(share, () => hexToBytes(random.shift() ?? ""));
    expect([bytesToHex(made.commitments.hiding), bytesToHex(made.commitments.binding)]).toEqual([
      output["hiding_nonce_commitment"],
      output["binding_nonce_commitment"],
    ]);
    const dealt = frost.trustedDealer({ min: 2, max: 2 }, undefined, share.signingShare);
    known.verifyingShares[share.identifier] = hexToBytes(bytesToHex(dealt.public.commitments[0] ?? new Uint8Array()));
    return { share, made };
  });
  const list = drawn.map(({ made }) => made.commitments);
  const shares = drawn.map(({ share, made }) => [
    share.identifier,
    frost.signShare(share, known, made.nonces, list, message),
  ]);
  expect(shares.map(([, each]) => bytesToHex(each as Uint8Array))).toEqual(
    round_two_outputs.outputs.map(({ sig_share }) => sig_share),
  );
  expect(bytesToHex(frost.aggregate(known, list, message, Object.fromEntries(shares)))).toBe(final_output.sig);
};

describe.skipIf(!existsSync(vectors))(`FROST vectors${existsSync(vectors) ? "" : `: ${absent}`}`, () => {
  for (const [name, draft, frost] of suites) {
    for (const file of [`${name}-vectors.json`, `${name}-vectors-big-identifier.json`, `cfrg/frost-${draft}.json`])
      it.runIf(isHere(file))(`signs as ${file} says`, () => reproduce(frost, read(file)));

    const dkg = `${name}-vectors_dkg.json`;
    it.runIf(isHere(dkg) && name !== "secp256k1-tr")(`adds up shares as ${dkg} says`, () => {
      const { inputs } = read(dkg);
      for (const each of membersOf(inputs)) {
        const { share, verifying } = addedUp(frost, inputs, each);
        expect(share).toBe(inputs[each].signing_share);
        expect(verifying).toBe(inputs[each].verifying_share);
      }
    });

    const repaired = `${name}-repair-share.json`;
    it.runIf(isHere(repaired))(`adds up as ${repaired} says`, () => {
      const { scalar_generation: drawn, sigma_generation: sigma } = read(repaired);
      const { Fn } = frost.utils;
      const sumOf = (...all: ReadonlyArray<string>): string =>
        bytesToHex(Fn.toBytes(all.reduce((sum, each) => Fn.add(sum, Fn.fromBytes(hexToBytes(each))), Fn.ZERO)));
      expect(sumOf(drawn.random_scalar_1, drawn.random_scalar_2, drawn.random_scalar_3)).toBe(drawn.random_scalar_sum);
      expect(sumOf(sigma.sigma_1, sigma.sigma_2, sigma.sigma_3, sigma.sigma_4)).toBe(sigma.sigma_sum);
    });

    const shared = `${name}-vectors.json`;
    it.runIf(isHere(shared))(`weighs shares so that they give the third of ${shared}`, () => {
      const { participant_shares: all } = (read(shared) as Signing).inputs;
      const { Fn } = frost.utils;
      const protocols = { keygen: frost, signing: frost };
      const third = [1, 2].reduce((sum, index) => {
        const share = Fn.fromBytes(hexToBytes(all[index - 1]?.participant_share ?? ""));
        return Fn.add(sum, Fn.mul(weight(protocols, [1, 2], index, 3), share));
      }, Fn.ZERO);
      expect(bytesToHex(Fn.toBytes(third))).toBe(all[2]?.participant_share);
    });
  }

  it.runIf(isHere("secp256k1-tr-vectors_dkg.json"))("tweaks for Taproot as secp256k1-tr-vectors_dkg.json says", () => {
    const { inputs } = read("secp256k1-tr-vectors_dkg.json");
    const { Point } = secp256k1;
    const members = membersOf(inputs);
    const lists = members.map((each) => inputs[each].vss_commitments as ReadonlyArray<string>);
    const commitments = [0, 1].map(
      (power) => lists.reduce((sum, list) => sum.add(Point.fromHex(list[power] ?? "")), Point.ZERO).toHex() as Element,
    );
    const untweaked = members.map((each) => addedUp(secp256k1_FROST, inputs, each));
    const key: GroupKey = {
      threshold: 2,
      commitments,
      verifyingShares: new Map(members.map((each, at) => [each, untweaked[at]?.verifying as Element])),
    };
    for (const [at, each] of members.entries()) {
      const secret = new Secret(hexToBytes(untweaked[at]?.share ?? ""));
      const { key: output, share } = tweaked({ key, share: { index: each, secret } });
      expect(output.commitments[0]).toBe(inputs.verifying_key);
      expect(output.verifyingShares.get(each)).toBe(inputs[each].verifying_share);
      expect(bytesToHex(share.secret.expose())).toBe(inputs[each].signing_share);
    }
  });
});

interface DkgMember {
  readonly signing_key: string;
  readonly coefficient: string;
  readonly signing_shares: Record<string, string>;
}

const membersOf = (inputs: Record<string, unknown>): ReadonlyArray<number> =>
  [1, 2, 3].filter((each) => String(each) in inputs);

/** What a member's own polynomial and the shares of the others add up to. */
const addedUp = (frost: FROST, inputs: Record<string, DkgMember>, index: number) => {
  const { Fn } = frost.utils;
  const scalarOf = (hex = ""): bigint => Fn.fromBytes(hexToBytes(hex));
  const member = inputs[index];
  const own = Fn.add(scalarOf(member?.signing_key), Fn.mul(BigInt(index), scalarOf(member?.coefficient)));
  const sum = Object.values(member?.signing_shares ?? {}).reduce((total, each) => Fn.add(total, scalarOf(each)), own);
  const share = Fn.toBytes(sum);
  const dealt = frost.trustedDealer({ min: 2, max: 2 }, undefined, share);
  return { share: bytesToHex(share), verifying: bytesToHex(dealt.public.commitments[0] ?? new Uint8Array()) };
};
