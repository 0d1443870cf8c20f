/** S40: a list shows what its filter fits, in order, each once; and what can be listed is, unless a reason is named. */
import { SELF } from "../../core/protocol/Tables.ts";
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { Rows, WriteTo } from "../../core/Tables.ts";
import { rowsOf } from "../models/Product.ts";
import { approverSubject } from "../models/approvers/ApproverSubject.ts";
import { fits, type OpenPage, pageFault, textOfWanted, type Wanted, type Walk } from "../oracle/Listing.ts";
import type { PageAnswer, PageAsked } from "../oracle/ListRequests.ts";
import { standingRefusal } from "../oracle/LookupRequests.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** Cursors and lists remembered: more than callers hold. */
const CURSORS = 256;
const WALKS = 8;

/** Keeps the newest of what a set or map has. */
const keepNewest = (
  kept: { readonly size: number; keys(): Iterable<unknown>; delete(key: never): boolean },
  most: number,
) => {
  for (const oldest of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(oldest as never);
  }
};

/** What a page must be, by the moment at which it was asked for. */
interface Due {
  readonly slot: number;
  readonly isGoodCursor: boolean;
  readonly refusal: RejectionCode | undefined;
  readonly page: OpenPage;
}

/** What is known of a cursor that came with a page. */
interface Given {
  readonly filter: string;
  /** The last ref of that page. */
  readonly after: string;
  /**
   * Of a page that may have ended early, and looked further than it shows: what fitted all the while. What came to fit
   * since, behind its last ref, may lie before the place that it had reached.
   */
  readonly steady: ReadonlySet<string> | undefined;
}

export const S40 = (ghost: Ghost): Checker => {
  /** By slot: whether the index on its disk is said to be whole; absent where nobody can tell. */
  const whole = new Map<number, boolean>();
  const given = new Map<string, Given>();
  const open = new Map<PageAsked, Due>();
  const walks = new Set<Walk>();

  /** The refs at a peer that a filter fits: by what it made durable, or by its rows where it makes no promises. */
  const fitting = ({ slot, honest, store }: Watched, wanted: Wanted): Set<string> => {
    const refs = new Set<string>();
    const take = (ref: string, row: object): void => {
      // What lies in this table are approvers.
      if (fits(wanted, row as Rows["approvers"])) refs.add(ref);
    };
    if (!honest) for (const [ref, row] of rowsOf(store, approverSubject)) take(ref, row);
    else
      for (const [ref, { subject, holders, revisions, revisionAt }] of ghost.subjects) {
        const row = revisions.get(revisionAt[slot] ?? 0);
        if (subject === approverSubject && row !== undefined && (holders & maskOf(slot)) !== 0) take(ref, row);
      }
    return refs;
  };

  const changed = ({ slot }: Watched, write: WriteTo<"approvers">): void => {
    const isFitting = (wanted: Wanted): boolean => write.op !== "remove" && fits(wanted, write.row);
    for (const walk of walks) walk.changed(write.key, isFitting(walk.wanted));
    for (const { slot: asked, page } of open.values()) {
      if (asked !== slot) continue;
      if (isFitting(page.wanted)) page.ever.add(write.key);
      else page.steady.delete(write.key);
    }
  };

  /** Why a peer lists nothing now, if so. */
  const refusalOf = ({ slot, state }: Watched): RejectionCode | undefined => {
    if (state === undefined) return "NOT_INITIALIZED";
    const standing = standingRefusal(state);
    if (standing !== undefined) return standing;
    if (state.fitness.integrityFault !== undefined) return "INTEGRITY_FAILURE";
    return whole.get(slot) === true ? undefined : "INDEXING";
  };

  /** Why an answer is not the one that was due. */
  const faultOf = (
    peer: Watched,
    { refusal, isGoodCursor, page }: Due,
    answer: PageAnswer,
    { walk, edge }: PageAsked,
  ): string | undefined => {
    if (answer._tag === "QueryRefused" && edge?.isBroken !== true && isGoodCursor)
      return "its query was refused, which keeps every rule";
    if (answer._tag === "CursorRefused" || answer._tag === "QueryRefused")
      return isGoodCursor && edge?.isBroken !== true ? "its cursor was refused, which came with a page" : undefined;
    // The page itself may have found out that rows do not hold.
    if (answer._tag === "Refused" && answer.code === "INTEGRITY_FAILURE" && peer.isDamaged) return undefined;
    if (answer._tag === "Refused")
      // What it is refused for may have come about between two parts of the page.
      return answer.code === refusal || answer.code === refusalOf(peer) ? undefined : `it was refused: ${answer.code}`;
    if (edge?.isBroken === true) return "its query was taken";
    if (!isGoodCursor) return "its cursor was taken, which came with no page of this filter";
    if (refusal !== undefined) return `it was answered, not refused as ${refusal}`;
    const isLast = answer.next === undefined;
    return pageFault(page, answer.refs, isLast) ?? walk.shows(answer.refs, isLast);
  };

  return {
    id: "S40",
    booted: ({ slot, store, isDamaged }) => {
      // Of rows that may not hold, what was known of them before.
      if (isDamaged) return;
      const row = store.get("indexed", SELF);
      whole.set(slot, row === undefined ? store.scan("approvers", "", 1).length === 0 : row.upTo === undefined);
    },
    written: {
      indexed: ({ slot }, write) => void whole.set(slot, write.op !== "remove" && write.row.upTo === undefined),
      approvers: changed,
    },
    listing: (peer, asked) => {
      const { slot } = peer;
      const { walk, filter, limit, cursor } = asked;
      if (!whole.has(slot)) return;
      const from = cursor === undefined ? undefined : given.get(cursor);
      const isGoodCursor = cursor === undefined || from?.filter === textOfWanted(filter);
      const fitted = fitting(peer, filter);
      const refs = new Set([...fitted].filter((ref) => from?.steady === undefined || from.steady.has(ref)));
      if (isGoodCursor) {
        walk.asks(fitted, from?.after ?? "");
        walks.add(walk);
        keepNewest(walks, WALKS);
      }
      const mayBeShort = ghost.capacities.searchWork !== undefined;
      const page = { wanted: filter, limit, mayBeShort, after: from?.after ?? "", steady: refs, ever: fitted };
      open.set(asked, { slot, isGoodCursor, refusal: refusalOf(peer), page });
    },
    listed: (peer, asked, outcome, transactions) => {
      const due = open.get(asked);
      open.delete(asked);
      if (outcome === "gone") return;
      const edge = asked.edge === undefined ? "" : `, by a query at the edge of ${asked.edge.rule}: ${asked.edge.how},`;
      const about = `peer ${peer.slot} was asked${edge} for ${asked.limit} of ${textOfWanted(asked.filter)} after ${due?.page.after === "" ? "nothing" : due?.page.after}`;
      if (transactions > 0) throw new Violation("S40", about, `it wrote ${transactions} transaction(s)`);
      const fault = due && faultOf(peer, due, outcome, asked);
      if (fault !== undefined) throw new Violation("S40", about, fault);
      if (outcome._tag !== "Page") return;
      if (outcome.next === undefined) walks.delete(asked.walk);
      else {
        if (outcome.next === asked.cursor) throw new Violation("S40", about, "the next page is the same one again");
        const after = outcome.refs.at(-1) ?? due?.page.after ?? "";
        const isExact = outcome.refs.length === asked.limit && due?.page.mayBeShort !== true;
        const steady = isExact ? undefined : due?.page.steady;
        given.set(outcome.next, { filter: textOfWanted(asked.filter), after, steady });
      }
      keepNewest(given, CURSORS);
    },
  };
};
