/** A caller that lists approvers, page by page, through any peer, while others change them and peers come and go. */
import { type ApproverFilter, credentialTypes } from "../../core/commands/approvers/Terms.ts";
import type { Stream, Unit } from "../base/Choices.ts";
import { textOfWanted, Walk } from "../oracle/Listing.ts";
import type { PageAsked } from "../oracle/ListRequests.ts";
import { listAtEdge, listEdgeNames, MOST_PAIRS, queryOf } from "../requests/ListQueries.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";

const USUAL_PAUSE_MICROS = 5_000;
const LONGEST_PAUSE_MICROS = 2_000_000;
/** Between two lists. */
const THINKING = [
  [500, 20_000],
  [500, 200_000],
  [500, LONGEST_PAUSE_MICROS],
] as const;
/** Between two pages. */
const TURNING = [
  [500, 5_000],
  [500, 20_000],
  [500, 500_000],
] as const;
const LONGEST_PART_MICROS = 20_000;
/** Pages of one list, with those that are asked for again. */
const MOST_PAGES = 12;
/** Events of the world for each page, so that a run does not spend its time on lists. */
const EVENTS_PER_PAGE = 50;
/** The greatest is that of contract 8. */
const LIMITS = [3, 1, 2, 5, 20, 200] as const;
/** Approvers and teams that a filter may name. */
const IDS = 30;
const TEAMS = 4;

const filters = ["all", "id", "type", "team", "site", "site and team", "team and type", "site and id"] as const;
type FilterName = (typeof filters)[number];
const FILTER_WEIGHTS = [4, 1, 1, 2, 2, 2, 1, 1];

type Label = readonly [name: string, value: string];

/** Ways to spoil a cursor, none of which leaves a good one. */
const spoilers = ["padded", "empty", "of another version", "cut", "with a foreign character"] as const;
const spoil = (cursor: string, how: (typeof spoilers)[number]): string =>
  ({
    padded: `${cursor}=`,
    empty: "",
    "of another version": `N${cursor.slice(1)}`,
    cut: cursor.slice(0, 20),
    "with a foreign character": `+${cursor.slice(1)}`,
  })[how];

interface Given {
  readonly cursor: string;
  readonly filter: string;
}

/** A list that is being read. */
interface Reading {
  readonly walk: Walk;
  readonly filter: ApproverFilter;
  readonly limit: number;
  slot: number;
  cursor: string | undefined;
  left: number;
}

const filterOf = (unit: Unit, name: FilterName): ApproverFilter => {
  const parts = name.split(" and ");
  const site: ReadonlyArray<Label> = parts.includes("site") ? [["site", "north"]] : [];
  const team: ReadonlyArray<Label> = parts.includes("team")
    ? [["team", `team-${unit.between("team", 1, 0, TEAMS)}`]]
    : [];
  return {
    id: parts.includes("id") ? `approver-${unit.between("id", 1, 1, IDS)}` : undefined,
    type: parts.includes("type") ? unit.named("type", "SIGNATURE", credentialTypes, [3, 1]) : undefined,
    metadata:
      site.length > 0 && team.length > 0 && unit.chance("site first", 500) ? [...site, ...team] : [...team, ...site],
  };
};

const asked = (walk: Walk, filter: ApproverFilter, limit: number, cursor: string | undefined): PageAsked => ({
  walk,
  filter,
  limit,
  cursor,
  query: queryOf({ ...filter, limit, cursor }),
});

export class Lister {
  readonly #world: World;
  readonly #stream: Stream;
  /** The last cursor given, and the last one of the list before. */
  #given: Given | undefined;
  #earlier: Given | undefined;
  #pages = 0;
  #stopped = false;

  constructor(world: World) {
    this.#world = world;
    this.#stream = world.choices.stream("lister");
  }

  start(): void {
    const unit = this.#stream.next();
    const wait = unit.spread("thinks for", USUAL_PAUSE_MICROS, THINKING, 500, LONGEST_PAUSE_MICROS);
    this.#world.after(wait, () => this.#begin(unit));
  }

  stop(): void {
    this.#stopped = true;
  }

  #begin(unit: Unit): void {
    this.#earlier = this.#given;
    const filter = filterOf(unit, unit.named("filter", "all", filters, FILTER_WEIGHTS));
    const slot = unit.between("through peer", 1, 1, this.#world.plan.peers);
    const limit = unit.oneOf("limit", 3, LIMITS);
    this.#ask({ walk: new Walk(filter), filter, limit, slot, cursor: undefined, left: MOST_PAGES }, unit);
  }

  #ask(reading: Reading, unit: Unit): void {
    if (this.#stopped) return;
    if (reading.left === 0) return this.start();
    if (this.#pages * EVENTS_PER_PAGE > this.#world.events) return this.#goOn(reading);
    reading.left -= 1;
    if (unit.chance("through another peer", 200)) reading.slot = unit.between("peer", 1, 1, this.#world.plan.peers);
    const { walk, filter, limit, cursor } = reading;
    const { lists } = this.#world;
    const peer = this.#world.peer(reading.slot);
    const spoiled = unit.chance("with a wrong cursor", 100) ? this.#wrongCursor(unit, reading) : undefined;
    if (spoiled !== undefined)
      lists.page(peer, asked(new Walk(filter), filter, limit, spoiled), 0, (outcome) => {
        if (outcome !== "gone") this.#world.marks.add("list: a wrong cursor");
      });
    const pause = unit.chance("in parts", 200) ? unit.between("parts after", 1_000, 1_000, LONGEST_PART_MICROS) : 0;
    if (unit.chance("at an edge", 150)) this.#askAtEdge(unit, peer);
    lists.page(peer, asked(walk, filter, limit, cursor), pause, (outcome) => {
      const { marks } = this.#world;
      if (outcome === "gone") return this.#goOn(reading);
      if (outcome._tag !== "Page") {
        marks.add(`list: ${outcome._tag === "Refused" ? outcome.code : "query refused"}`);
        return this.#goOn(reading);
      }
      marks.add("list: a page");
      if (outcome.next !== undefined && outcome.refs.length < reading.limit) marks.add("list: a short page");
      this.#pages += 1;
      reading.cursor = outcome.next;
      if (outcome.next !== undefined) {
        this.#given = { cursor: outcome.next, filter: textOfWanted(filter) };
        return this.#goOn(reading);
      }
      if (walk.pages > 1) marks.add("a list of several pages came to its end");
      if (walk.pages > 1 && walk.hasChanged) marks.add("a list of several pages met a change");
      this.start();
    });
  }

  /** Asks for a first page at the edge of what a list takes. */
  #askAtEdge(unit: Unit, peer: SimPeer): void {
    const { lists, plan, marks } = this.#world;
    const isScarce = plan.capacities.searchWork !== undefined;
    const weights = listEdgeNames.map((name) => (isScarce && name === MOST_PAIRS ? 0 : 1));
    const edged = listAtEdge(unit.named("edge", listEdgeNames[0] ?? "", listEdgeNames, weights));
    if (edged === undefined) return;
    const { meant, query, edge } = edged;
    const { id, metadata, limit, cursor } = meant;
    const filter = { id, type: undefined, metadata };
    lists.page(peer, { walk: new Walk(filter), filter, limit, cursor, query, edge }, 0, (outcome) => {
      if (outcome === "gone") return;
      if (outcome._tag === "Page") marks.add(`kept ${edge.rule}`);
      if (outcome._tag === "QueryRefused") marks.add(`broken ${edge.rule}`);
    });
  }

  /** A cursor that no page of this filter came with. */
  #wrongCursor(unit: Unit, { filter, cursor }: Reading): string | undefined {
    const other = this.#earlier;
    const isForeign = other !== undefined && other.filter !== textOfWanted(filter);
    if (isForeign && unit.chance("of another filter", 500)) return other.cursor;
    return cursor && spoil(cursor, unit.named("wrong how", "padded", spoilers, [1, 1, 1, 1, 1]));
  }

  #goOn(reading: Reading): void {
    const unit = this.#stream.next();
    const wait = unit.spread("turns the page after", USUAL_PAUSE_MICROS, TURNING, 500, LONGEST_PAUSE_MICROS);
    this.#world.after(wait, () => this.#ask(reading, unit));
  }
}
