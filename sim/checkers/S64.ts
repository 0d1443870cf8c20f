/**
 * S64: the writer tells no peer for certain that a request was not done while it has signed for one like it, which may
 * be that request, sent twice, and is not being given up.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Digest } from "../../core/base/Digest.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { RowView } from "../../core/Tables.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";
import { Violation } from "../base/Violation.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";

/** Requests that a peer was passed, remembered at least. */
const REMEMBERED = 512;

/** What only one may do; another who asks for the same comes too late, and is told so. */
const DONE_ONCE = "METADATA";

const textOf = ({ method, path, ifMatch, rawBody }: Call): string =>
  [method, path, ifMatch ?? "", bytesToHex(rawBody)].join("\n");

const hasIn = (store: RowView, key: string, slot: number): boolean =>
  store.get("preparations", key.slice(`${slot} `.length)) !== undefined;

interface Open {
  readonly id: Digest;
  readonly kind: string;
  readonly entryPeer: PeerId;
  readonly call: string;
  /** When the step began that signed for it, in microseconds. */
  readonly since: number;
}

/** What one process knows. */
class Memory {
  readonly calls = new RecentMap<string>(REMEMBERED);
  /** Denied before: the answer stays, whatever has come since. */
  readonly denied = new RecentMap<true>(REMEMBERED);
}

export const S64 = (ghost: Ghost): Checker => {
  const memories: Array<Memory | undefined> = [];
  /** By slot and row. */
  const open = new Map<string, Open>();
  const memoryOf = (slot: number): Memory => (memories[slot] ??= new Memory());
  const forget = ({ slot }: Watched): void => void (memories[slot] = undefined);
  return {
    id: "S64",
    booted: forget,
    stopped: forget,
    delivered: ({ slot }, message) => {
      if (message._tag !== "Forward") return;
      const { entryPeer, requestId, call } = message.forward;
      memoryOf(slot).calls.set(`${entryPeer} ${requestId}`, textOf(call));
    },
    written: {
      preparations: ({ slot, decidedAt }, write) => {
        const key = `${slot} ${write.key}`;
        if (write.op === "remove") return void open.delete(key);
        const { entryPeer, requestId, kind } = write.row.proposal;
        const call = memoryOf(slot).calls.get(`${entryPeer} ${requestId}`);
        if (write.op !== "insert" || call === undefined) return;
        // The row is kept under the id of its proposal, which its writer's receipt names.
        const id = write.row.own.statement.proposalId;
        open.set(key, { id, kind, entryPeer, call, since: decidedAt });
      },
    },
    sent: ({ slot, honest, state, store, decidedAt }, message, to) => {
      if (message._tag !== "Outcome" || message.outcome._tag !== "Rejected") return;
      const { requestId, outcome } = message;
      const { rejection } = outcome;
      const name = `${to} ${requestId}`;
      const { calls, denied } = memoryOf(slot);
      const isFirst = denied.get(name) === undefined;
      denied.set(name, true);
      if (!honest || ghost.lying !== 0 || rejection.outcomeUnknown || !isFirst) return;
      const call = calls.get(name);
      for (const [key, each] of open) {
        if (!key.startsWith(`${slot} `) || each.call !== call || each.since >= decidedAt) continue;
        if (each.kind === DONE_ONCE && each.entryPeer !== to) continue;
        // Aborted; or on a disk that another has taken the place of.
        if (state?.undecided.aborting.has(each.id) === true || !hasIn(store, key, slot)) continue;
        throw new Violation(
          "S64",
          `peer ${slot} has signed for proposal ${each.id}, from a request like ${requestId} that came through peer ${each.entryPeer}`,
          `it told peer ${to} for certain that nothing was done for that: ${rejection.code}`,
        );
      }
    },
  };
};
