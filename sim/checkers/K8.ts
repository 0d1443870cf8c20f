/**
 * K8, of a restored peer: whatever it was told meanwhile, with its membership it has every share that its disk had and
 * its registry wants. What is right when everything has come to rest, run/KeysAtRest.ts says.
 */
import { Violation } from "../base/Violation.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";

const ALL = Number.MAX_SAFE_INTEGER;

/** The transcripts of the generations of which a disk has a share, by their names. */
type OnDisk = ReadonlyMap<string, string>;

const sharesOn = ({ store }: Watched): OnDisk => {
  const found = new Map<string, string>();
  for (const { key } of store.scan("shares", "", ALL)) {
    const generation = store.get("generations", key);
    if (generation !== undefined) found.set(key, generation.transcript);
  }
  for (const { key, row } of store.scan("pending", "", ALL)) found.set(key, row.transcript);
  return found;
};

export const K8 = (ghost: Ghost): Checker => {
  /** By slot, since its restore began: a process that starts in the middle of one does not know what was there. */
  const before = new Map<number, OnDisk>();
  return {
    id: "K8",
    booted: ({ slot }) => {
      before.delete(slot);
    },
    written: {
      restore: (peer, write) => {
        const { slot, store } = peer;
        if (write.op === "remove" || ghost.isLying(slot) || peer.isDamaged) return;
        // It may begin anew, and nothing that it had goes by that.
        if (write.row.recovering)
          return void before.set(slot, new Map([...(before.get(slot) ?? []), ...sharesOn(peer)]));
        for (const [key, transcript] of before.get(slot) ?? []) {
          const generation = store.get("generations", key);
          const isWanted =
            generation?.transcript === transcript &&
            (generation.state === "ACTIVE" || generation.state === "HISTORICAL") &&
            store.get("custodyKeys", generation.keyId)?.status === "ACTIVE";
          if (isWanted && store.get("shares", key) === undefined)
            throw new Violation(
              "K8",
              `the disk on which peer ${slot} was restored had its share of generation ${key}`,
              "it is a member again, and has none",
            );
        }
        before.delete(slot);
      },
    },
  };
};
