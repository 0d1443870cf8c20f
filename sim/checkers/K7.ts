/**
 * K7: an honest peer's share is the one that its generation says, and any of them, as many as sign, give the key: in the
 * toy group everything is looked at. So it is with what a restored peer has once it is a member again. A refresh keeps the key and changes every share; everything else makes a fresh key.
 */
import type { Rows } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import { logarithmOf, numberOf, valueAt } from "../crypto/ToyGroup.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { generationAt, opensAt } from "./KeyFacts.ts";

type Generation = Rows["generations"];

/** What does not hold of a group of shares; undefined where all does, or it is none of the toy group. */
const groupFault = ({ publicKey, group }: Generation, threshold: number, total: number): string | undefined => {
  const { commitments, verifyingShares } = group;
  if (group.threshold !== threshold || verifyingShares.length !== total) return "it has other parties than the cluster";
  if (commitments.length !== threshold) return `it has ${commitments.length} coefficients`;
  if (logarithmOf(publicKey) === undefined) return undefined;
  const polynomial = commitments.map(logarithmOf);
  // What is added nothing times has no logarithm: without its highest power a polynomial has fewer shares than sign.
  if (polynomial.some((each) => each === undefined)) return "its polynomial lacks a power";
  if (publicKey !== commitments[0]) return "its key is not what its shares give";
  const coefficients = polynomial.map((each) => each ?? 0n);
  const wrong = verifyingShares.find(({ index, element }) => logarithmOf(element) !== valueAt(coefficients, index));
  return wrong && `share ${wrong.index} is not on its polynomial`;
};

export const K7 = (ghost: Ghost): Checker => {
  /** By public key: the key that has it. */
  const owners = new Map<string, string>();
  /** Keys that their holder made while it was alone: every member knows them as whole until they are refreshed. */
  const whole = new Set<string>();
  const broken = (row: Generation, slot: number, why: string): Violation =>
    new Violation("K7", `peer ${slot} stored generation ${row.generation} of ${row.keyId}, by ${row.madeBy}`, why);
  const assertKey = ({ slot, store }: Watched, row: Generation): void => {
    const before = row.generation > 1 ? generationAt(store, row.keyId, row.generation - 1) : undefined;
    const isKept = before?.publicKey === row.publicKey;
    if (before !== undefined && isKept !== (row.madeBy === "REFRESH"))
      throw broken(row, slot, `its public key is ${isKept ? "that" : "not that"} of the generation before`);
    if (row.madeBy === "REFRESH") {
      const old = new Map(before?.group.verifyingShares.map(({ index, element }) => [index, element]));
      if (row.group.verifyingShares.some(({ index, element }) => old.get(index) === element))
        throw broken(row, slot, "a share is the one of the generation before");
      return;
    }
    const name = `${row.keyId} ${row.transcript}`;
    const owner = owners.get(row.publicKey);
    if (owner !== undefined && owner !== name) throw broken(row, slot, `its key is that of ${owner}`);
    owners.set(row.publicKey, name);
  };
  return {
    id: "K7",
    written: {
      generations: (peer, write) => {
        if (write.op !== "insert") return;
        const { topology } = ghost.membership ?? {};
        const total = topology?.members.length ?? 1;
        const name = `${write.row.keyId} ${write.row.transcript}`;
        if (total === 1) whole.add(name);
        // What it made alone moves with it, whatever it says.
        if (ghost.isLying(peer.slot)) return;
        const isWhole = whole.has(name) && write.row.group.verifyingShares.length === 0;
        const fault = isWhole ? undefined : groupFault(write.row, topology?.threshold ?? 1, total);
        if (fault !== undefined) throw broken(write.row, peer.slot, fault);
        assertKey(peer, write.row);
      },
      restore: (peer, write) => {
        if (write.op === "remove" || write.row.recovering || ghost.isLying(peer.slot) || peer.isDamaged) return;
        if (peer.opened === undefined) return;
        // What it brought along is of the key as it is now, or gone.
        for (const { key } of peer.store.scan("shares", "", Number.MAX_SAFE_INTEGER)) {
          const row = peer.store.get("generations", key);
          if (row !== undefined && !opensAt(peer, row))
            throw broken(row, peer.slot, "it is a member again, with a share that is of another");
        }
      },
      shares: (peer, write) => {
        if (write.op === "remove" || ghost.isLying(peer.slot) || peer.isDamaged) return;
        const row = peer.store.get("generations", write.key);
        if (row === undefined)
          throw new Violation("K7", `peer ${peer.slot} has no generation ${write.key}`, "it stored a share of it");
        const index = ghost.membership?.topology.members.find(({ peerId }) => peerId === peer.slot)?.shareIndex;
        const verifying = row.group.verifyingShares.find((each) => each.index === index)?.element ?? row.publicKey;
        const secret = peer.opened?.(row, verifying, write.row.box);
        if (secret === undefined) throw broken(row, peer.slot, "its share does not open there");
        const logarithm = logarithmOf(verifying);
        if (logarithm !== undefined && numberOf(secret) !== logarithm)
          throw broken(row, peer.slot, "its share is not the one that all know of");
      },
    },
  };
};
