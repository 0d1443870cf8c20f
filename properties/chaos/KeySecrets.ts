/**
 * The secrets of keys that peers of a run ever held, as the fault port heard of them, and a search for each in everything
 * that the run left behind (K5). That it heard of all is shown by the shares that were stored: opened with their peer's
 * own key, each must be among them, and be the share that its generation has. And boxes that were removed must be gone
 * from databases and their logs (K9).
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sharePlace } from "../../core/commands/keys/HeldShare.ts";
import { Secret } from "../../core/threshold/Secret.ts";
import type { ShareVault } from "../../core/threshold/Suite.ts";
import type { Membership } from "../../core/protocol/Topology.ts";
import type { Rows } from "../../core/Tables.ts";
import { Violation } from "../../sim/base/Violation.ts";
import type { Transaction } from "./Journal.ts";
import { secretsProcess, unframed } from "./PortFiles.ts";
import { SecretSearch } from "./SecretSearch.ts";

/** Fewer different bytes are no secret: a share that is being wiped, a test's. */
const LEAST_DIFFERENT = 8;

type Generation = Pick<Rows["generations"], "keyId" | "generation" | "transcript" | "publicKey" | "group">;

/** A peer's part of it. */
export interface Holder {
  readonly slot: number;
  /** Where its fault port writes. */
  readonly chaosFolder: string;
  /** All that it ever handed to its disk. */
  readonly transactions: ReadonlyArray<Pick<Transaction, "writes">>;
  /** Opens the boxes of its shares; undefined where its vault does not open. */
  readonly shareVault: ShareVault | undefined;
  readonly membership: Membership | undefined;
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Every secret that a peer's processes made, hexadecimal. */
const heardBy = ({ chaosFolder }: Pick<Holder, "chaosFolder">): ReadonlySet<string> => {
  const heard = new Set<string>();
  for (const name of readdirSync(chaosFolder))
    if (secretsProcess(name) !== undefined)
      for (const secret of unframed(readFileSync(join(chaosFolder, name))))
        if (new Set(secret).size >= LEAST_DIFFERENT) heard.add(hexOf(secret));
  return heard;
};

/** Whether a share is the one of a verifying share, by arithmetic that is not the product's; any of another curve is. */
const fits = (share: Secret, verifyingShare: string): boolean => {
  const bytes = share.expose();
  if (verifyingShare.length === 64)
    return ed25519.Point.BASE.multiply(BigInt(`0x${hexOf(bytes.toReversed())}`)).toHex() === verifyingShare;
  return secp256k1.Point.BASE.multiply(BigInt(`0x${hexOf(bytes)}`)).toHex(true) === verifyingShare;
};

/** Whether a private key that is whole at one peer is that of a public one: by RFC 8032, BIP 340, or BIP 341 without scripts. */
const fitsWhole = (secret: Secret, publicKey: string): boolean => {
  const bytes = secret.expose();
  if (hexOf(ed25519.getPublicKey(bytes)) === publicKey) return true;
  const { lift_x: lifted, pointToBytes, taggedHash } = schnorr.utils;
  const internal = schnorr.getPublicKey(bytes);
  const tweak = BigInt(`0x${hexOf(taggedHash("TapTweak", internal))}`);
  const output = lifted(BigInt(`0x${hexOf(internal)}`)).add(secp256k1.Point.BASE.multiply(tweak));
  return [internal, pointToBytes(output)].some((each) => hexOf(each) === publicKey);
};

export interface SharesSeen {
  /** Every secret that any peer held. */
  readonly secrets: ReadonlyArray<Uint8Array>;
  /** Boxes of shares that were stored at some time. */
  readonly boxes: ReadonlyArray<Uint8Array>;
}

/** Opens every box that was ever stored. Throws {@link Violation}. */
export const sharesOf = (holders: ReadonlyArray<Holder>): SharesSeen => {
  const generations = new Map<string, Array<Generation>>();
  for (const { transactions } of holders)
    for (const { writes } of transactions)
      for (const write of writes)
        if (write.table === "generations" && write.op !== "remove") {
          const known = generations.get(write.key) ?? [];
          generations.set(write.key, known);
          if (!known.some(({ transcript }) => transcript === write.row.transcript)) known.push(write.row);
        }
  const all = new Set<string>();
  const boxes = new Map<string, Uint8Array>();
  for (const holder of holders) {
    const heard = heardBy(holder);
    for (const each of heard) all.add(each);
    for (const { writes } of holder.transactions)
      for (const write of writes) {
        if ((write.table !== "shares" && write.table !== "pending") || write.op === "remove") continue;
        const of = write.table === "pending" ? [write.row] : (generations.get(write.key) ?? []);
        assertHeard(holder, heard, write.key, of, write.row.box);
        boxes.set(hexOf(write.row.box), write.row.box);
      }
  }
  return { secrets: [...all].map((hex) => Buffer.from(hex, "hex")), boxes: [...boxes.values()] };
};

const assertHeard = (
  { slot, shareVault, membership }: Holder,
  heard: ReadonlySet<string>,
  key: string,
  generations: ReadonlyArray<Generation>,
  box: Uint8Array,
): void => {
  const stored = `peer ${slot} stored a share of ${key}`;
  for (const generation of generations) {
    const place = membership && sharePlace(membership, slot, generation);
    const share = place && shareVault?.open(place, box);
    if (place === undefined || share === undefined) continue;
    const isWhole = generation.group.verifyingShares.length === 0;
    if (!(isWhole ? fitsWhole : fits)(share, place.verifyingShare))
      throw new Violation("K7", stored, "it is not the one that all know of");
    if (heard.has(hexOf(share.expose()))) return;
    throw new Violation("K5", stored, "the fault port never heard of it, so others may have been missed too");
  }
  throw new Violation("K7", stored, "it does not open there");
};

function* filesIn(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (entry.isFile()) yield path;
  }
}

/** What a run left behind. */
export interface Remains {
  /** Everything in it is looked at, but for what the fault port heard. */
  readonly folder: string;
  /** As they were sent. */
  readonly answers: Iterable<string>;
}

/**
 * Looks for secrets in everything. Throws {@link Violation}.
 *
 * @returns how many bytes were looked at
 */
export const assertNowhere = (secrets: ReadonlyArray<Uint8Array>, { folder, answers }: Remains): number => {
  const search = new SecretSearch(secrets);
  let looked = 0;
  const look = (hay: Uint8Array | string, where: string): void => {
    looked += hay.length;
    const found = search.findIn(hay);
    if (found !== undefined)
      throw new Violation(
        "K5",
        "shares and seeds of keys leave memory in boxes alone",
        `one is in ${where}: ${found.form}, at ${found.at}`,
      );
  };
  for (const path of filesIn(folder))
    if (secretsProcess(path.slice(path.lastIndexOf("/") + 1)) === undefined) look(readFileSync(path), path);
  let number = 0;
  for (const text of answers) look(text, `answer ${(number += 1)}: ${text.slice(0, 80)}`);
  return looked;
};

/** The version that a box begins with, which all have, is left out. */
const bodyOf = (box: Uint8Array): Uint8Array => box.subarray(1);

/**
 * Looks for boxes that no row has any more in the files of a database. Throws {@link Violation}.
 *
 * @param directory the data directory of a peer that has been stopped
 * @param kept those that its rows have
 */
export const assertErased = (
  directory: string,
  boxes: ReadonlyArray<Uint8Array>,
  kept: ReadonlyArray<Uint8Array>,
): void => {
  const left = new Set(kept.map(hexOf));
  const erased = boxes.filter((box) => !left.has(hexOf(box)));
  const search = new SecretSearch(erased.map(bodyOf));
  for (const path of filesIn(directory)) {
    const found = search.findIn(readFileSync(path));
    if (found !== undefined)
      throw new Violation(
        "K9",
        "shares that are erased are gone from the disk",
        `the box of one is in ${path}, at ${found.at}`,
      );
  }
};
