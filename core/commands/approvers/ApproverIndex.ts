/**
 * The index of approvers by their terms. It follows from the approvers' rows and changes in the same transactions, so
 * it is sealed and verified like them, and it is no part of the registry root. A disk from before there was an index is
 * indexed in passing, after its unseal.
 */
import type { Slice } from "../../protocol/Module.ts";
import type { PeerState } from "../../protocol/PeerState.ts";
import { isPresent } from "../../protocol/Mode.ts";
import type { Step } from "../../protocol/Step.ts";
import { SELF } from "../../protocol/Tables.ts";
import type { Approver } from "./Approver.ts";
import { approverRows, approverTables } from "./Tables.ts";
import { termKeysOf } from "./Terms.ts";

interface IndexState {
  /** The ref up to which all approvers are in the index; no entry where all are. */
  readonly behind: ReadonlyMap<typeof SELF, string>;
  /** Whether the row that says so is stored. */
  readonly marked: ReadonlySet<typeof SELF>;
}

const empty: IndexState = { behind: new Map(), marked: new Set() };

export const indexing: Slice<IndexState> = {
  name: "approvers",
  empty,
  boot: (view) => {
    const rows = approverRows(view);
    const mark = rows.get("indexed", SELF);
    if (mark !== undefined)
      return {
        behind: mark.upTo === undefined ? empty.behind : new Map([[SELF, mark.upTo]]),
        marked: new Set([SELF]),
      };
    // Nothing to index, or nothing indexed yet.
    return rows.scan("approvers", "", 1).length === 0 ? empty : { ...empty, behind: new Map([[SELF, ""]]) };
  },
};

/** Whether every approver is in the index. */
export const isIndexed = ({ modules }: Pick<PeerState, "modules">): boolean =>
  ((modules[indexing.name] as IndexState | undefined) ?? empty).behind.size === 0;

const NO_KEYS: ReadonlySet<string> = new Set();

/** Brings the index up to an approver that comes in place of another one of the same ref, or goes. */
export const reindex = (step: Step, before: Approver | undefined, now: Approver | undefined): void => {
  const { crypto } = step.context;
  const rows = step.rows(approverTables);
  const { behind, marked } = step.slice(indexing);
  const isWhole = behind.size === 0;
  const old = before === undefined ? NO_KEYS : termKeysOf(before, crypto);
  const wanted = now === undefined ? NO_KEYS : termKeysOf(now, crypto);
  const has = (key: string): boolean => (isWhole ? old.has(key) : rows.current("terms", key) !== undefined);
  for (const key of old) if (!wanted.has(key) && has(key)) rows.write({ op: "remove", table: "terms", key });
  for (const key of wanted) if (!has(key)) rows.write({ op: "insert", table: "terms", key, row: {} });
  if (isWhole && !marked.has(SELF)) mark(step, undefined);
};

/** Writes down how far the index is. */
const mark = (step: Step, upTo: string | undefined): void => {
  const op = step.slice(indexing).marked.has(SELF) ? "replace" : "insert";
  step.rows(approverTables).write({ op, table: "indexed", key: SELF, row: { upTo } });
  if (op === "insert") step.editIn(indexing, "marked").add(SELF);
};

export const INDEX_TIMER = "Approvers.index";
/** The pause after each transaction, in which others get their turn. */
const PAUSE_MILLIS = 10;

/** Takes the next approvers of an older disk into the index. */
export const indexMore = (step: Step): void => {
  const after = step.slice(indexing).behind.get(SELF);
  if (after === undefined) return;
  const rows = step.rows(approverTables);
  const page = rows.view.scan("approvers", after, step.capacities.indexedApprovers);
  for (const { key } of page) {
    const approver = rows.current("approvers", key);
    if (approver !== undefined) reindex(step, approver, approver);
  }
  const last = page.length < step.capacities.indexedApprovers ? undefined : page.at(-1)?.key;
  mark(step, last);
  const behind = step.editIn(indexing, "behind");
  if (last === undefined) behind.delete(SELF);
  else behind.set(SELF, last);
};

/** Goes on for as long as something is left. */
export const goOnIndexing = (step: Step): void => {
  if (step.slice(indexing).behind.size > 0 && isPresent(step.mode)) step.arm(INDEX_TIMER, PAUSE_MILLIS);
};
