/**
 * K6: the generations of a key rise one by one, one is active, and what is agreed about one is the same wherever it is
 * stored, from the moment when it waits for its certificate. Its state goes on and never back: what is refreshed is
 * superseded, what is rotated is history.
 */
import type { Rows } from "../../core/Tables.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";
import { Violation } from "../base/Violation.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { generationAt } from "./KeyFacts.ts";

/** Sessions remembered at least: they last a minute. */
const REMEMBERED = 1_024;

type Generation = Rows["generations"];

/** What a generation may become. */
const next: Readonly<Record<Generation["state"], ReadonlyArray<Generation["state"]>>> = {
  ACTIVE: ["ACTIVE", "HISTORICAL", "SUPERSEDED", "DESTROYED"],
  HISTORICAL: ["HISTORICAL", "DESTROYED"],
  SUPERSEDED: ["SUPERSEDED", "DESTROYED"],
  DESTROYED: ["DESTROYED"],
};

const agreed = ["keyId", "generation", "madeBy", "publicKey", "record", "transcript", "createdAt"] as const;

const differs = (left: Generation, right: Generation): string | undefined =>
  agreed.find((field) => left[field] !== right[field]) ??
  (JSON.stringify([left.group, left.authorities]) === JSON.stringify([right.group, right.authorities])
    ? undefined
    : "group");

export const K6 = (ghost: Ghost): Checker => {
  /** By slot: the newest generation of each key, and the state of each generation. */
  const newest: Array<Map<string, number>> = [];
  const states: Array<Map<string, Generation["state"]>> = [];
  const forget = (slot: number): void => {
    newest[slot] = new Map();
    states[slot] = new Map();
  };
  /** By session: what a peer has stored of what was made in it. */
  const made = new RecentMap<{ readonly slot: number; readonly transcript: string }>(REMEMBERED);
  const isJudged = ({ slot, honest }: Watched): boolean => honest && !ghost.isLying(slot) && !ghost.isRecovering(slot);
  return {
    id: "K6",
    booted: ({ slot, honest }) => {
      if (!honest) forget(slot);
    },
    written: {
      restore: ({ slot }) => forget(slot),
      pending: ({ slot }, write) => {
        if (write.op === "remove" || ghost.isLying(slot)) return;
        const { sessionId, transcript, keyId } = write.row;
        const before = made.get(sessionId);
        if (before !== undefined && before.transcript !== transcript)
          throw new Violation(
            "K6",
            `peer ${before.slot} stored a share of ${keyId} that was made in session ${sessionId}`,
            `peer ${slot} made another key with the others in that session`,
          );
        made.set(sessionId, { slot, transcript });
      },
      generations: (peer, write) => {
        const { slot } = peer;
        if (write.op === "remove" || ghost.isLying(slot)) return;
        const { row, key } = write;
        const name = `generation ${row.generation} of ${row.keyId}`;
        const known = ghost.keys.generations.get(key);
        const field = known && differs(known.row, row);
        if (field !== undefined)
          throw new Violation("K6", `${name} is stored already`, `peer ${slot} stored it with another ${field}`);
        if ((row.madeBy === "CREATE") !== (row.generation === 1))
          throw new Violation("K6", `${name} was made by ${row.madeBy}`, `peer ${slot} stored it`);
        if (!isJudged(peer)) return;
        const own = (states[slot] ??= new Map());
        const before = own.get(key);
        own.set(key, row.state);
        if (before !== undefined && !next[before].includes(row.state))
          throw new Violation("K6", `${name} was ${before} at peer ${slot}`, `it is ${row.state} there`);
      },
      custodyKeys: (peer, write) => {
        const { slot, store } = peer;
        if (write.op === "remove" || !isJudged(peer)) return;
        const { keyId, generation, status } = write.row;
        const own = (newest[slot] ??= new Map());
        const before = own.get(keyId) ?? generation - 1;
        own.set(keyId, generation);
        if (generation !== before && generation !== before + 1)
          throw new Violation(
            "K6",
            `generation ${before} of ${keyId} was the newest at peer ${slot}`,
            `it is ${generation} now`,
          );
        const newestRow = generationAt(store, keyId, generation);
        const head = newestRow?.state;
        if (head !== (status === "ACTIVE" ? "ACTIVE" : "DESTROYED"))
          throw new Violation(
            "K6",
            `${keyId} is ${status} at peer ${slot}`,
            `its newest generation ${generation} is ${head ?? "not there"}`,
          );
        const older = generation > 1 ? generationAt(store, keyId, generation - 1)?.state : undefined;
        if (generation > 1 && (older === undefined || older === "ACTIVE"))
          throw new Violation(
            "K6",
            `generation ${generation} of ${keyId} is active at peer ${slot}`,
            `the one before it is ${older ?? "not there"}`,
          );
        const due = newestRow?.madeBy === "REFRESH" ? "SUPERSEDED" : "HISTORICAL";
        if (generation > 1 && older !== due && older !== "DESTROYED")
          throw new Violation(
            "K6",
            `generation ${generation} of ${keyId} was made by ${newestRow?.madeBy ?? "nobody"}`,
            `the one before it is ${older ?? "not there"} at peer ${slot}, not ${due}`,
          );
      },
    },
  };
};
