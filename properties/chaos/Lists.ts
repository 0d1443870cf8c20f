/** Lists that callers of real peers ask for: all versions of an id, page by page, each item judged as a read of it. */
import { REGISTER_PATH } from "../../core/commands/registerKey/Registration.ts";
import { Violation } from "../../sim/base/Violation.ts";
import { shownIn } from "./AnswerText.ts";
import { microsNow, type Moment } from "./History.ts";
import type { Answered } from "./HttpCall.ts";

export interface ListPorts {
  /** One page: the path with its query, at the peer of a slot. */
  readonly page: (slot: number, path: string) => Promise<Answered>;
  readonly note: (moment: Moment) => void;
  /** Called when a page cannot be one of the service. */
  readonly broken: (violation: Violation) => void;
}

interface Page {
  /** The text of each record as an exact read would have it. */
  readonly texts: ReadonlyArray<string>;
  readonly next: string | undefined;
}

/** Two items a page, so that most lists have several. */
const LIMIT = 2;

/** The content of a page, or undefined for any other text. No metadata here has keys that JSON.parse would reorder. */
export const pageIn = (text: string): Page | undefined => {
  try {
    const { items, nextCursor }: { items?: unknown; nextCursor?: unknown } = JSON.parse(text);
    if (!Array.isArray(items) || (nextCursor !== null && typeof nextCursor !== "string")) return undefined;
    return { texts: items.map((item) => JSON.stringify(item)), next: nextCursor ?? undefined };
  } catch {
    return undefined;
  }
};

/**
 * Lists the versions of an id at one peer.
 *
 * @param promised the versions that callers had been told of before
 * @returns whether the list came to its end; what a page leaves out is judged only then
 */
export const listVersions = async (
  { page, note, broken }: ListPorts,
  slot: number,
  id: string,
  promised: ReadonlyArray<string>,
): Promise<boolean> => {
  const begun = microsNow();
  const listed = new Set<string>();
  let last = "";
  let cursor = "";
  for (;;) {
    const from = microsNow();
    const { status, text } = await page(slot, `${REGISTER_PATH}?id=${id}&limit=${LIMIT}${cursor}`);
    if (status !== 200) return false;
    const read = pageIn(text);
    if (read === undefined) {
      broken(new Violation("S25", `peer ${slot} was asked for a list`, "its answer cannot be read"));
      return false;
    }
    for (const body of read.texts) {
      const found = shownIn(body)?.approver;
      if (found === undefined || found.id !== id || found.ref <= last) {
        const what = found === undefined ? "no record" : `${found.ref} after ${last === "" ? "nothing" : last}`;
        broken(new Violation("S25", `peer ${slot} was asked for the versions of ${id}, in order`, `it listed ${what}`));
        return false;
      }
      last = found.ref;
      listed.add(found.ref);
      note({ _tag: "Read", at: microsNow(), from, slot, ref: found.ref, found, body });
    }
    if (read.next === undefined) break;
    cursor = `&cursor=${encodeURIComponent(read.next)}`;
  }
  for (const ref of promised)
    if (!listed.has(ref)) note({ _tag: "Read", at: microsNow(), from: begun, slot, ref, found: undefined, body: "" });
  return true;
};
