/**
 * How much a peer holds, sends or reads at once, and for how many of anything it has room. Every member of a cluster has
 * the same. Handlers take these from their settings ({@link Settings.capacities}), so that the simulator can draw small
 * ones; a server always has {@link CAPACITIES}.
 */
export interface Capacities {
  /** Contract 8: uncommitted preparations per peer. */
  readonly preparations: number;
  /** protocol.md 3.5: durable refusals a peer keeps before it refuses new preparations. */
  readonly refusals: number;
  /** protocol.md 3.5: refusals and pledges at once; {@link Limits.abortMillis}, or an applied change, brings one back. */
  readonly aborts: number;
  /** Of them, at the writer, those of one actor's changes. */
  readonly abortsOfActor: number;
  /** protocol.md 3.5: changes applied here and not known to be applied by all; beyond it nothing new is prepared. */
  readonly unacknowledged: number;
  /** protocol.md 3.5: a slot this far above the highest decided one is an error. No lower than `preparations`. */
  readonly slotWindow: number;
  /** protocol.md 4h: proposals of one round, and of any other message about proposals or sessions. */
  readonly proposalsPerMessage: number;
  /** Bodies of requests in one such message, in bytes: sixteen of the longest, which are read and judged in one step. */
  readonly evidenceBytes: number;
  /** Statements of others in one settlement answer; the rest goes into the next one. Two of each member fit. */
  readonly heldStatements: number;
  /** Slots of one page that a restored member takes from another: reads wait while it is made, and while it is installed. */
  readonly offeredSlots: number;
  /** Slots that a restored member and its helper compare at once: what both have alike does not travel. */
  readonly comparedSlots: number;
  /** Slots of its own that a restored member settles in one transaction. */
  readonly ownSlots: number;
  /** Records of its own that it adds up in one step. */
  readonly summedRecords: number;
  /** Approvers of an older disk that are taken into the index in one transaction. */
  readonly indexedApprovers: number;
  /** Requests that wait at a peer before it answers 503 at once; duplicate suppression follows from it. At least 3. */
  readonly queuedCommands: number;
  /** Of these, how many the driver's mailbox holds at once. At least 2: one may wait for a flush. */
  readonly commandsAtOnce: number;
  /** Signatures that a coordinator has under way at once; requests for more wait in line. */
  readonly signaturesAtOnce: number;
  /** Shares of keys that are made and not certified yet; past that the oldest that no proposal rests on go. */
  readonly pendingShares: number;
  /** Callers that wait to hear whether a change would be accepted. */
  readonly readinessWaiters: number;
  /** Contract 8: unfinished enrollment sessions of one registrar. */
  readonly sessionsPerRegistrar: number;
  /** Contract 8: unexpired enrollment sessions at the writer. */
  readonly sessions: number;
  /** Unexpired sessions that a member takes from the writer: the writer's own, and leftovers of its failed attempts. */
  readonly mirroredSessions: number;
  /** Sessions that a member takes for one request: a writer that restarts in the middle of one makes another. */
  readonly sessionsOfRequest: number;
  /** Session rows a peer keeps, expired ones included; past that the oldest expired ones go before their hour is up. */
  readonly sessionRows: number;
  /** Versions of one id that are searched for passkeys to exclude. */
  readonly excludedVersions: number;
  /** Refused responses of one session at one peer at once; {@link Limits.refusedFinishMillis} brings one back. */
  readonly refusedFinishes: number;
  /** The same of one actor (iss and sub), whatever sessions they are for. */
  readonly refusedFinishesOfActor: number;
  /** Sessions and actors for which a peer counts refusals. */
  readonly refusedFinishNames: number;
  /** Requests answered with a certain "no" that an entry peer remembers. */
  readonly denialsRemembered: number;
  /** Answered options requests the writer can answer again. */
  readonly offersRemembered: number;
  /** Keys of an index that a list reads at once at first: most pages need those that follow. */
  readonly listedKeys: number;
  /** Keys that the runs of a page's terms may hold together, where each needs no more than a short one. */
  readonly listedRuns: number;
  /** Work of one slice of a page, in searches of an index: 64 take about a millisecond. */
  readonly listWork: number;
  /**
   * Work of a page besides the rows on it: past it a page is short. Finding nothing takes no longer than a usual page.
   * More than the first search of each term of a filter.
   */
  readonly searchWork: number;
}

/** Those of the service; what is stored or sent is never more, whatever the settings say. */
export const CAPACITIES: Capacities = {
  preparations: 256,
  refusals: 4096,
  aborts: 4096,
  abortsOfActor: 256,
  unacknowledged: 4096,
  slotWindow: 256,
  proposalsPerMessage: 64,
  evidenceBytes: 4 * 1024 * 1024,
  heldStatements: 4096,
  offeredSlots: 16,
  comparedSlots: 64,
  ownSlots: 128,
  summedRecords: 64,
  indexedApprovers: 64,
  queuedCommands: 1024,
  commandsAtOnce: 16,
  signaturesAtOnce: 16,
  pendingShares: 64,
  readinessWaiters: 256,
  sessionsPerRegistrar: 8,
  sessions: 256,
  mirroredSessions: 1024,
  sessionsOfRequest: 4,
  sessionRows: 4096,
  excludedVersions: 1024,
  refusedFinishes: 16,
  refusedFinishesOfActor: 32,
  refusedFinishNames: 2048,
  denialsRemembered: 4096,
  offersRemembered: 256,
  listedKeys: 16,
  listedRuns: 256,
  listWork: 64,
  searchWork: 96,
};
