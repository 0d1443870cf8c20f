/**
 * A second opinion on lists: which approvers a filter fits, in which order, and what pages may show while approvers
 * change. It shares no code with the index, the pages or the cursors.
 */
import type { Rows } from "../../core/Tables.ts";

type Approver = Rows["approvers"];

/** A filter as callers mean it. */
export interface Wanted {
  readonly id: string | undefined;
  readonly type: string | undefined;
  readonly metadata: ReadonlyArray<readonly [name: string, value: string]>;
}

/** The same text for the same filter, in whatever order its pairs are. */
export const textOfWanted = ({ id, type, metadata }: Wanted): string =>
  JSON.stringify([id ?? null, type ?? null, metadata.map((pair) => JSON.stringify(pair)).toSorted()]);

/** Whether an approver has everything that is asked for. */
export const fits = (wanted: Wanted, { id, descriptor, metadata }: Approver): boolean => {
  if (wanted.id !== undefined && wanted.id !== id) return false;
  const has = Object.fromEntries(metadata);
  for (const [name, value] of wanted.metadata) if (!Object.hasOwn(has, name) || has[name] !== value) return false;
  return wanted.type === undefined || (JSON.parse(descriptor) as { readonly type: string }).type === wanted.type;
};

/** A page as it is being read: its questions and what happened meanwhile. */
export interface OpenPage {
  readonly wanted: Wanted;
  readonly limit: number;
  /** Whether it may end early, because so little work is allowed for one. */
  readonly mayBeShort: boolean;
  /** The last ref of the page before; empty for the first page. */
  readonly after: string;
  /** Refs that have fitted at every moment since it was asked for, at the peer that was. */
  readonly steady: Set<string>;
  /** Refs that have fitted at some moment. */
  readonly ever: Set<string>;
}

/** Why a page is not what it should be; undefined where it is. */
export const pageFault = (
  { limit, mayBeShort, after, steady, ever }: OpenPage,
  refs: ReadonlyArray<string>,
  isLast: boolean,
): string | undefined => {
  let before = after;
  for (const ref of refs) {
    if (ref <= before) return `it shows ${ref} behind ${before}`;
    if (!ever.has(ref)) return `it shows ${ref}, which did not fit`;
    before = ref;
  }
  if (refs.length > limit) return `it shows ${refs.length}`;
  if (!isLast && !mayBeShort && refs.length < limit) return `it shows ${refs.length} and another page is to follow`;
  const shown = new Set(refs);
  for (const ref of steady)
    if (ref > after && (isLast || ref <= before) && !shown.has(ref)) return `it leaves out ${ref}, which fitted`;
  const isMore = [...ever].some((ref) => ref > before);
  return isLast || isMore || mayBeShort ? undefined : "another page is to follow, and nothing more fitted";
};

/** One list read to its end, page by page, through any peers, while approvers change. */
export class Walk {
  readonly wanted: Wanted;
  /** Pages shown. */
  pages = 0;
  /** Whether an approver that fitted, or came to, was changed since the first page. */
  hasChanged = false;
  /** Refs that have fitted ever since, at every peer that was asked. */
  #steady: Set<string> | undefined;
  readonly #seen = new Set<string>();

  constructor(wanted: Wanted) {
    this.wanted = wanted;
  }

  /** A peer is asked for a page behind `after`; these fit there. */
  asks(fitting: ReadonlySet<string>, after: string): void {
    const before = this.#steady;
    this.#steady = new Set([...fitting].filter((ref) => (before === undefined ? ref > after : before.has(ref))));
  }

  /** An approver was changed at some peer. */
  changed(ref: string, isFitting: boolean): void {
    if (this.#steady === undefined) return;
    if (!isFitting) this.#steady.delete(ref);
    this.hasChanged = true;
  }

  /** Takes a page in; why the list is not what it should be. */
  shows(refs: ReadonlyArray<string>, isLast: boolean): string | undefined {
    this.pages += 1;
    for (const ref of refs) {
      if (this.#seen.has(ref)) return `it has shown ${ref} twice`;
      this.#seen.add(ref);
    }
    const missing = isLast ? [...(this.#steady ?? [])].find((ref) => !this.#seen.has(ref)) : undefined;
    return missing === undefined ? undefined : `it has never shown ${missing}, which fitted all the time`;
  }
}
