/**
 * Requests in messages between peers. Bodies differ by a factor of thousands, so messages are cut by their bytes as well
 * as by number: what is not cut so cannot be sent when callers send the longest.
 */
import type { Capacities } from "../base/Capacities.ts";
import type { Forward } from "./Forward.ts";

export const bodyBytesOf = ({ call }: Pick<Forward, "call">): number => call.rawBody.length;

/** Whether one more body goes into a message that has so many, of so many bytes; any one goes into a message of its own. */
export const hasRoom = (
  { proposalsPerMessage, evidenceBytes }: Capacities,
  count: number,
  bytes: number,
  more: number,
): boolean => count < proposalsPerMessage && (count === 0 || bytes + more <= evidenceBytes);

/** The same, in order, in as few messages as that takes. */
export const inMessages = <A extends { readonly evidence: Pick<Forward, "call"> }>(
  capacities: Capacities,
  items: ReadonlyArray<A>,
): ReadonlyArray<ReadonlyArray<A>> => {
  const messages: Array<Array<A>> = [];
  let last: Array<A> = [];
  let bytes = 0;
  for (const item of items) {
    const more = bodyBytesOf(item.evidence);
    if (messages.length === 0 || !hasRoom(capacities, last.length, bytes, more)) {
      last = [];
      bytes = 0;
      messages.push(last);
    }
    last.push(item);
    bytes += more;
  }
  return messages;
};
