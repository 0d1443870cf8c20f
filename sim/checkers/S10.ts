/**
 * S10, in the service's numbers; a run may have smaller ones: no peer holds more than 256 uncommitted preparations, nor
 * waits for the acknowledgements of more than 4,096 proposals beside what it had prepared by then; at the writer no registrar has more than 8 unfinished
 * sessions, and no more than 256 are unexpired; no member keeps more than 256 unexpired ones that one process of
 * the writer has made, nor more than 4 of one request; of those that go the oldest go first. The writer remembers the options, with their invitations, that it
 * told last: no more than 256, and as it takes another the first of them is not over. Refused responses are counted
 * where callers hear of them (`sim/requests/RefusedFinishes.ts`).
 */
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Rows } from "../../core/Tables.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** Contract 8 and protocol.md 3.5, in numbers of their own. */
const OF_SERVICE = {
  sessionsPerRegistrar: 8,
  sessions: 256,
  sessionsOfRequest: 4,
  preparations: 256,
  unacknowledged: 4_096,
  offersRemembered: 256,
};

/** What a peer has room for in this run. */
type Room = typeof OF_SERVICE;

type Row = Rows["sessions"];

const registrarOf = ({ session }: Row): string => JSON.stringify([session.registrar.iss, session.registrar.sub]);

/** protocol.md 1: one opened later than that was opened by a clock that was ahead, and has been put right since. */
const CLOCK_SKEW_MILLIS = 5_000;

/**
 * Whether an earlier session was opened for the newest one's relying party, in the same epoch and incarnations and by the same
 * time; if not, it is void.
 */
const isOfSameTerms = (earlier: Row, newest: Row): boolean =>
  earlier.session.rpId === newest.session.rpId &&
  earlier.session.topologyDigest === newest.session.topologyDigest &&
  earlier.session.createdAt <= newest.session.createdAt + CLOCK_SKEW_MILLIS &&
  earlier.session.incarnations.every((each, index) => each === newest.session.incarnations[index]);

/** Throws {@link Violation} where too many count beside the newest, at the moment at which it was made. */
const assertRoom = (most: Room, slot: number, newest: Row, all: ReadonlyArray<Row>): void => {
  const rows = all.filter((row) => isOfSameTerms(row, newest));
  const now = Math.max(...rows.map(({ session }) => session.createdAt));
  const unexpired = rows.filter(({ session }) => session.expiresAt >= now);
  const unfinished = new Map<string, number>();
  for (const row of unexpired)
    if (row.completed === undefined) unfinished.set(registrarOf(row), (unfinished.get(registrarOf(row)) ?? 0) + 1);
  const fullest = Math.max(0, ...unfinished.values());
  if (fullest > most.sessionsPerRegistrar)
    throw new Violation(
      "S10",
      `a registrar may have ${most.sessionsPerRegistrar} unfinished sessions`,
      `one has ${fullest} at peer ${slot}`,
    );
  if (unexpired.length > most.sessions)
    throw new Violation(
      "S10",
      `the writer may have ${most.sessions} unexpired sessions`,
      `peer ${slot} has ${unexpired.length}`,
    );
};

/** Throws {@link Violation} where a member keeps more than it should have taken, at the moment at which it takes one. */
const assertTaken = (
  most: Room,
  slot: number,
  newest: Row,
  all: ReadonlyArray<Row>,
  makerOf: (row: Row) => number | undefined,
) => {
  const { requestId, entryPeer, createdAt } = newest.session;
  const ofRequest = all.filter(({ session }) => session.requestId === requestId && session.entryPeer === entryPeer);
  if (ofRequest.length > most.sessionsOfRequest)
    throw new Violation(
      "S10",
      `a member may keep ${most.sessionsOfRequest} sessions of one request`,
      `peer ${slot} keeps ${ofRequest.length} of request ${requestId}`,
    );
  const maker = makerOf(newest);
  if (maker === undefined) return;
  const ofMaker = all.filter((row) => makerOf(row) === maker);
  // Sessions may arrive in another order than they were made in, so this one may be one too many for a later one.
  for (const made of ofMaker) {
    const at = made.session.createdAt;
    if (at < createdAt) continue;
    const unexpired = ofMaker.filter(
      (row) => row.session.createdAt <= at && row.session.expiresAt >= at && isOfSameTerms(row, made),
    );
    if (unexpired.length > most.sessions)
      throw new Violation(
        "S10",
        `the writer may leave ${most.sessions} unexpired sessions at members`,
        `peer ${slot} keeps ${unexpired.length} that one process of it made`,
      );
  }
};

/** A peer that waits for as many as it may prepares nothing new, but still applies what it had prepared. */
const mostUnacknowledged = ({ unacknowledged, preparations }: Room): number => unacknowledged + preparations;

/** Throws {@link Violation} where a peer has applied too many changes that not every member is known to have. */
const assertAcknowledged = (most: Room, slot: number, { undecided: { outbox } }: PeerState): void => {
  let waiting = 0;
  for (const { isPrunable } of outbox.values()) if (!isPrunable) waiting += 1;
  if (waiting > mostUnacknowledged(most))
    throw new Violation(
      "S10",
      `peer ${slot} waits for acknowledgements of ${waiting} proposals`,
      `it may wait for ${most.unacknowledged}, and for ${most.preparations} that it had prepared by then`,
    );
};

/** Throws {@link Violation} where a session went for want of room, and one that had been over for longer stays. */
const assertOldest = (slot: number, gone: Row, kept: ReadonlyArray<Row>, now: number): void => {
  const older = kept.find(({ session }) => session.expiresAt < Math.min(gone.session.expiresAt, now));
  if (older !== undefined)
    throw new Violation(
      "S10",
      `session ${older.session.registrationId} at peer ${slot} was over at ${older.session.expiresAt}`,
      `it stays, and session ${gone.session.registrationId} goes, which lasts until ${gone.session.expiresAt}`,
    );
};

/** What the writer has told of enrollments, in the order in which it did. */
type Offered = ReadonlyMap<string, { readonly session: Pick<Row["session"], "expiresAt"> }>;

const offeredIn = ({ modules }: PeerState): Offered | undefined =>
  (modules["enrollment"] as { readonly offered: Offered } | undefined)?.offered;

/** Throws {@link Violation} where it remembers too many, or one of those known before that was over when it took another. */
const assertForgotten = (most: Room, slot: number, offered: Offered, known: Offered | undefined, now: number): void => {
  if (offered.size > most.offersRemembered)
    throw new Violation(
      "S10",
      `a writer remembers ${most.offersRemembered} answers with an invitation`,
      `peer ${slot} remembers ${offered.size}`,
    );
  const [[name = "", first] = []] = offered;
  // The newest may be over as it comes.
  if (first !== undefined && known?.has(name) === true && now > first.session.expiresAt)
    throw new Violation(
      "S10",
      `an enrollment lasted until ${first.session.expiresAt}`,
      `peer ${slot} remembers its invitation, and took another at ${now}`,
    );
};

export const S10 = (ghost: Ghost): Checker => {
  const most = { ...OF_SERVICE, ...ghost.capacities };
  const unacknowledged = mostUnacknowledged(most);
  const sessions = new Map<number, Map<string, Row>>();
  /** By registration id: the process of an honest writer that made it. Those of an earlier process it need not know. */
  const makers = new Map<string, number>();
  /** By slot: what its clock showed before the last message, and the answers that it remembers. */
  const before: Array<number | undefined> = [];
  const remembered: Array<Offered | undefined> = [];
  return {
    id: "S10",
    delivered: ({ slot, lastReading }) => void (before[slot] = lastReading),
    stepped: ({ slot, honest, state, lastReading }) => {
      const offered = state && offeredIn(state);
      const known = remembered[slot];
      if (offered === known) return;
      remembered[slot] = offered;
      if (!honest || offered === undefined || [...offered.keys()].every((each) => known?.has(each) === true)) return;
      assertForgotten(most, slot, offered, known, Math.min(lastReading, before[slot] ?? lastReading));
    },
    sent: ({ slot, honest, process }, message) => {
      if (message._tag !== "Session.Mirror" || !honest || ghost.membership?.writer !== slot) return;
      for (const { session } of message.items) makers.set(session.registrationId, process);
    },
    written: {
      // Sessions that a restored disk has forgotten are void, and take up no room.
      restore: ({ slot }) => void sessions.delete(slot),
      sessions: ({ slot, honest, state, lastReading }, write, writes) => {
        if (!honest) return;
        const kept = sessions.get(slot) ?? new Map<string, Row>();
        sessions.set(slot, kept);
        if (write.op === "remove") {
          const row = kept.get(write.key);
          kept.delete(write.key);
          const going = new Set<string>(writes.flatMap(({ op, key }) => (op === "remove" ? [key] : [])));
          // One that a response is for stays until all have said what came of it.
          const isTold = state?.undecided.outbox.size === 0;
          const left = [...kept].flatMap(([key, each]) =>
            going.has(key) || (each.completed !== undefined && !isTold) ? [] : [each],
          );
          // Where nothing is undecided, nor refused and not by all yet, no other response is on its way.
          if (state !== undefined && state.undecided.aborting.size > 0) return;
          if (row !== undefined && ghost.openAt(slot).size === 0)
            assertOldest(slot, row, left, Math.min(lastReading, before[slot] ?? lastReading));
          return;
        }
        kept.set(write.key, write.row);
        if (write.op !== "insert") return;
        const all = [...kept.values()];
        if (ghost.membership?.writer === slot) assertRoom(most, slot, write.row, all);
        else assertTaken(most, slot, write.row, all, ({ session }) => makers.get(session.registrationId));
      },
    },
    flushed: ({ slot, honest, state }) => {
      if (!honest) return;
      if (state !== undefined && state.undecided.outbox.size > unacknowledged) assertAcknowledged(most, slot, state);
      const { size } = ghost.openAt(slot);
      if (size > most.preparations)
        throw new Violation(
          "S10",
          `peer ${slot} has ${size} uncommitted preparations`,
          `it may have ${most.preparations}`,
        );
    },
  };
};
