/** L4: once everything works, every approver can be listed (S40 says whether the pages are right). */
import type { PageOutcome } from "../oracle/ListRequests.ts";
import { queryOf } from "../requests/ListQueries.ts";
import { Walk } from "../oracle/Listing.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import { Violation } from "../base/Violation.ts";
import type { World } from "../world/World.ts";

const ALL = { id: undefined, type: undefined, metadata: [] };
const LIMIT = 50;

/** Lists everything through one peer. */
export const assertListable = (world: World, peer: SimPeer): void => {
  const walk = new Walk(ALL);
  let cursor: string | undefined;
  do {
    const outcomes: Array<PageOutcome> = [];
    const query = queryOf({ ...ALL, limit: LIMIT, cursor });
    world.lists.page(peer, { walk, filter: ALL, limit: LIMIT, cursor, query }, 0, (outcome) => outcomes.push(outcome));
    const [outcome] = outcomes;
    if (outcome === undefined || outcome === "gone" || outcome._tag !== "Page")
      throw new Violation(
        "L4",
        "everything was healed",
        `a list through peer ${peer.slot} gave ${typeof outcome === "object" && outcome._tag === "Refused" ? outcome.code : "nothing"}`,
      );
    cursor = outcome.next;
  } while (cursor !== undefined);
};
