/**
 * Rare things that a simulator must have brought about at least once, or its silence proves nothing. Each is a mark
 * that a run sets when the thing happens; a hunt through {@link ENOUGH_SEEDS} seeds of the default mix is red while one
 * is missing, and any hunt while a schedule meets its own marks too seldom.
 */
import { ruleMarks } from "../requests/Rules.ts";
import type { ScheduleName } from "../schedules/Schedules.ts";
import { type Seldom, seldomOf, type Tally } from "./Tallies.ts";

export interface Point {
  /** The mark, as runs count it. */
  readonly name: string;
  readonly means: string;
}

/** After so many seeds of the default mix, within the fault budget, every point has been reached. */
export const ENOUGH_SEEDS = 5_000;

const point = (name: string, means: string): Point => ({ name, means });

export const sometimes: ReadonlyArray<Point> = [
  point("a batch of several", "one signature covered several preparations"),
  point("a batch of mixed votes", "one signature covered receipts and refusals"),
  point("a receipt of a third member", "a member heard of a receipt from neither its signer nor the writer's round"),
  point("a registry taken over in several pages", "a restored member went over the boundary of a page"),
  point("a page of one slot", "every slot of a registry that was taken over stood at a boundary"),
  point("list: a short page", "a page of a list ended where its work did"),
  point("a batch of 16 or more", "callers were quicker than flushes for a while"),
  point(
    "a certificate delivered by another than the writer",
    "a survivor completed or delivered what the writer began",
  ),
  point("read at a peer that was still being restored", "a reader waited for no third member"),
  point("every member was restored at once", "the writer put the registries of all members together"),
  point("restored from before the founding", "a declared restore put back a disk that knew no cluster"),
  point("a late certificate met a settlement", "a member that had seen a refusal was handed all receipts"),
  point("a member pledged", "a member that had prepared gave its claim up on another's refusal"),
  point("applied after a pledge", "a third member's acknowledgement released a member that had pledged"),
  point("an abort waits for all", "the writer kept its locks until every member had aborted"),
  point("a stray was kept", "an aborted proposal whose slot was bound to another one is remembered by itself"),
  point("applied and not yet acknowledged", "a peer applied a certificate while it was joining"),
  point("settled by an abort", "after healing some proposal had ended in an abort"),
  point("refused: ABANDONED", "a writer that had lost its evidence demanded a final answer"),
  point("refused: EXPIRED", "a proposal was judged or asked about after its deadline"),
  point("refused: REFUSED_BY_ANOTHER", "a member that knew nothing refused because another had"),
  point("refused: LOCKED", "two proposals wanted one lock at one member"),
  point("refused: SLOT_TAKEN", "two proposals wanted one slot at one member"),
  point("refused: WRONG_EFFECTS", "a proposal said what its request did not"),
  point("refused: WRONG_ACTOR", "a proposal named another actor than its token"),
  point("refused: WRONG_REQUEST", "a proposal named another request than its evidence"),
  point("refused: CONFIGURATION_DIFFERS", "a proposal came from another configuration"),
  point("answered 201", "a registration succeeded"),
  point("answered 200", "a repetition found what was there"),
  point("answered KEY_ALREADY_REGISTERED", "a second id asked for a key"),
  point("answered ACCESS_DENIED", "a token without the permission was turned away"),
  point("answered UNAUTHENTICATED", "a token that proves nothing was turned away"),
  point("answered APPROVER_REPLICATION_UNAVAILABLE", "a member was missing"),
  point("answered Offered", "every member kept a session, and its registrar was told of it"),
  point("answered INVALID_CEREMONY", "a response that proves nothing was turned away"),
  point("answered REGISTRATION_NOT_FOUND", "something that is no invitation was turned away"),
  point("answered REGISTRATION_EXPIRED", "a session ended before it was answered"),
  point("answered REGISTRATION_COMPLETED", "a second response came to a completed session"),
  point("answered CREDENTIAL_ALREADY_REGISTERED", "a credential was enrolled in two sessions"),
  point("answered SESSION_CAPACITY", "a registrar had as many unfinished sessions as it may"),
  point("caller: outcome unknown", "a caller was told that nobody knows"),
  point("caller: silence", "a caller gave up waiting"),
  point("a peer's time to answer was up", "a driver did not answer, or never had, a request of a caller still there"),
  point("asked for what had expired undecided", "a request waited behind a proposal past its deadline"),
  point("a restore was declared", "a peer came back on an old disk, began a new incarnation and said so"),
  point("a restored peer is a member again", "a peer took the registry over from another"),
  point("a traitor was restored", "a member that lies began a new incarnation, and went on lying"),
  point("read while a flush was under way", "a read did not wait"),
  point("a list of several pages met a change", "approvers were changed while somebody went from page to page"),
  point("list: INDEXING", "a list came while the index of an older disk was made"),
  point("the making of an index was cut by a crash", "a process ended with a part of the index of an older disk made"),
  point("crashed before a flush ended", "a process ended while its transaction was under way"),
  point("crashed after a flush, before it was reported", "a process ended with more on its disk than it knew"),
  point("crashed between two actions", "a process ended between two messages of one step"),
  point("opened on bytes that were not durable", "a start found what a crash had left unflushed"),
  point("halted by a failed flush", "a peer stopped because its disk had failed"),
  point("a full disk refused a write", "a peer stopped because there was no room"),
  point("a read found damage", "a record that was gone, or did not hold, was missed by whoever read it"),
  point("sealed while its rows were verified", "a seal came between the last share and the use of the keys"),
  point("a transaction was torn", "a part of a transaction was on a disk"),
  point("a full link dropped its oldest message", "more messages of a round waited than may"),
  point("a full link dropped its newest bulk", "more messages for callers waited than may"),
  point("a message was turned away", "more messages came to a peer than it has room for"),
  point("an answer found no room", "the same of an answer"),
  point("a session was opened", "two members vouch for their messages by MACs"),
  point("a stream was opened again", "something was lost on it, or a process ended"),
  point("a copied message was no message of a session", "somebody gave what it had heard to another end"),
  point("a message went again on a new connection", "the other peer had restarted since the last one"),
  point("an answer was kept open in vain", "a peer had nothing to say to what asked for an answer"),
  point("an answer was kept open when its process ended", "whoever had asked learned that the connection was gone"),
  point("an answer came back to a process that had ended", "a peer restarted while it waited for an answer"),
  point("envelope refused", "a message did not belong here, or was forged"),
  point("a vote was kept back", "a member took part and said nothing"),
  point("quarantined", "a peer learned from its own signature that it must not go on"),
  point("a faulty member was found out", "a faulty member left traces, and changes were refused by name"),
  point("a faulty member left no trace", "a faulty member had done nothing that anybody saw"),
  point("a member signed a receipt and a refusal", "a member contradicted itself"),
  point("a writer lied about effects", "a writer proposed what nobody had asked for"),
  point("a writer lied about a session", "a writer asked members to keep what no registrar had asked for"),
  point("a writer lied about an outcome", "a writer told an entry peer of another outcome than there was"),
  point("a writer told of an outcome that was still open", "a writer called a change done that not every member had"),
  point("a member acknowledged a session that it did not keep", "an acknowledgement of a session was worth nothing"),
  point("an equivocating writer: split", "a writer gave two proposals of one slot to different members"),
  point("an equivocating writer: both", "a writer gave two proposals of one slot to the same member"),
  point("an equivocating writer: late", "a second proposal of a slot came when the first was decided"),
  point("an equivocating writer: two slots", "one request was proposed in two slots"),
  point(
    "a traitor completed a certificate of its own",
    "a writer collected all receipts for what its own driver never proposed",
  ),
  ...[...ruleMarks].map((mark) => point(mark, "a rule of the contract was met")),
];

/** The points missing in these counts. */
export const missingPoints = (marks: Iterable<readonly [name: string, count: number]>): ReadonlyArray<Point> => {
  const reached = new Set<string>();
  for (const [name, count] of marks) if (count > 0) reached.add(name);
  return sometimes.filter(({ name }) => !reached.has(name));
};

/** How a hunt stands with the points and the marks of schedules: what to print, and whether it is red. */
export interface Coverage {
  /** How many points there are for it: none for a hunt of one schedule. */
  readonly points: number;
  readonly missing: ReadonlyArray<Point>;
  /** The marks that a schedule met too seldom, in words. */
  readonly seldom: ReadonlyArray<string>;
  readonly lines: ReadonlyArray<string>;
  readonly isRed: boolean;
}

/** The part of a hunt's options that says what it has to reach. */
interface Hunted {
  /** Absent in the default mix. */
  readonly schedule: ScheduleName | undefined;
  /** No other option takes anything from its runs. */
  readonly isWhole: boolean;
}

const seldomText = ({ schedule, mark, runs, met, oneIn }: Seldom): string =>
  `${mark}: in ${met} of ${runs} runs of ${schedule}, less than one in ${oneIn}`;

/** @param isRequired every point and mark must be there, however short the hunt */
export const coverageOf = (
  report: {
    readonly seeds: number;
    readonly marks: Iterable<readonly [string, number]>;
    readonly tallies: ReadonlyArray<Tally>;
  },
  isRequired: boolean,
  { schedule, isWhole }: Hunted,
): Coverage => {
  const points = schedule === undefined ? sometimes.length : 0;
  const missing = points === 0 ? [] : missingPoints(report.marks);
  const isMissed = missing.length > 0 && (isRequired || (isWhole && report.seeds >= ENOUGH_SEEDS));
  const seldom = report.tallies
    .filter(() => isRequired || isWhole)
    .flatMap((tally) => seldomOf(tally, isRequired))
    .map(seldomText);
  return {
    points,
    missing,
    seldom,
    isRed: isMissed || seldom.length > 0,
    lines: [
      ...(points === 0 ? [] : [`${points - missing.length} of ${points} "sometimes" points reached`]),
      ...missing.map(({ name, means }) => `  ${isMissed ? "never" : "not yet"}: ${name} (${means})`),
      ...seldom.map((text) => `  too seldom: ${text}`),
    ],
  };
};
