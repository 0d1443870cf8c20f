/**
 * K16: no caller and no member makes a peer hold more sessions, requests or pending shares than it may. A request to sign
 * holds a place until its caller is told, and no longer; none waits while a place is free, and none is turned away while
 * there is one in the line. What is over does not stay, nor does a session of a repair go before that; and no key that is
 * being made goes for another while there is room for both, nor with the session of another.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { MakingState } from "../../core/commands/makeKey/MakingState.ts";
import type { RepairState } from "../../core/commands/repairShare/RepairState.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { Violation } from "../base/Violation.ts";
import { isSigning } from "../requests/KeyRequests.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { generationAt } from "./KeyFacts.ts";

/** By the name of a module's memory and of a part of it. */
const most: ReadonlyArray<readonly [slice: string, part: string, most: number]> = [
  ["signing", "requests", 256],
  ["signing", "waiting", 256],
  ["signing", "sessions", 1_024],
  ["signing", "spent", 256],
  ["makeKey", "sessions", 4 + 64],
  ["repairs", "repairs", 1],
  ["repairs", "helping", 64],
];
const OF_COORDINATOR = 256;
/** Requests to sign, waiting and under way. */
const OF_CALLERS = 256;
/** Signatures of the service's coordinators at once. */
const USUALLY_AT_ONCE = 16;
/** Shares of keys that are made and not certified, at the service's peers. */
const USUALLY_PENDING = 64;

/** For how many milliseconds what is in a part may be there, and since when that says it is. */
const longest: ReadonlyArray<readonly [slice: string, part: string, since: "openedAt" | "arrivedAt", millis: number]> =
  [
    ["signing", "sessions", "openedAt", 10_000],
    ["signing", "requests", "arrivedAt", 10_000],
    ["signing", "waiting", "arrivedAt", 10_000],
    ["repairs", "helping", "openedAt", 10_000],
    ["repairs", "repairs", "arrivedAt", 10_000],
  ];
/** Timers look every second, and may all be late by a pause. */
const LOOKED_AT_MILLIS = 2_000;

/** Key generations that are not done; of those that are, each holds a pending share. */
const OPEN_MAKINGS = 4;

interface Item {
  readonly coordinator?: number;
  readonly made?: object | undefined;
  readonly making?: { readonly keyId: string };
  /** Monotonic milliseconds. */
  readonly openedAt?: number;
  readonly arrivedAt?: number;
}
type Part = ReadonlyMap<string | number, Item>;
type Slices = Readonly<Record<string, Readonly<Record<string, Part>> | undefined>>;

/** Whoever finds no place in the line is told so at once, or once half of its time is over. */
const LINE_FULL = /^This peer has as many signatures under way /u;
const PART_OF_TIME = 0.4;
/** Places in the line of the service where it moves slowly, which are all that it surely has. */
const USUALLY_IN_LINE = 64;

const NOBODY: ReadonlySet<string> = new Set();

type Signing = Readonly<Record<"requests" | "waiting", ReadonlyMap<string, Item>>>;

const heldBy = (slices: Slices | undefined): number =>
  (slices?.["signing"]?.["requests"]?.size ?? 0) + (slices?.["signing"]?.["waiting"]?.size ?? 0);

/** @param told the requests of this process whose callers were told */
const assertLine = (slot: number, { requests, waiting }: Signing, told: ReadonlySet<string>, atOnce: number): void => {
  const broken = (rule: string, now: string): never => {
    throw new Violation("K16", rule, `at peer ${slot} ${now}`);
  };
  if (requests.size + waiting.size > OF_CALLERS)
    broken(`a peer holds at most ${OF_CALLERS} requests to sign`, `there are ${requests.size} and ${waiting.size}`);
  if (waiting.size > 0 && requests.size < atOnce)
    broken(
      "no request to sign waits while a place is free",
      `${waiting.size} wait, and ${requests.size} are under way`,
    );
  for (const requestId of [...requests.keys(), ...waiting.keys()])
    if (told.has(requestId)) broken("a place is free once its caller was told", `request ${requestId} holds one`);
};

const NOTHING: Part = new Map();
const makingsIn = (state: PeerState | undefined): Part =>
  (state?.modules as Slices | undefined)?.["makeKey"]?.["sessions"] ?? NOTHING;

/** How early the clock of a process may say that a time is over. */
const EARLY_MILLIS = 1_000;

/** At the writer: nobody but itself says that the time for a key is over. */
const assertTimeUp = (slot: number, before: Slices | undefined, now: Slices | undefined, millis: number): void => {
  const { sessions, ended } = (now?.["makeKey"] ?? {}) as Partial<MakingState>;
  for (const [id, { deadline }] of ((before?.["makeKey"] ?? {}) as Partial<MakingState>).sessions ?? [])
    if (sessions?.has(id) === false && ended?.get(id)?.code === "EXPIRED" && millis < deadline - EARLY_MILLIS)
      throw new Violation(
        "K16",
        `peer ${slot} was making a key in session ${id} until ${deadline} ms`,
        `at ${millis} ms it has given it up, as if the time were over`,
      );
};

/** A making takes the place of those of its key, and of others where there are as many as may be. */
const assertRoomMade = (slot: number, sessionId: string, before: Part, now: Part): void => {
  const begun = now.get(sessionId);
  if (begun === undefined || before.has(sessionId)) return;
  const others = [...before].filter(([, { made, making }]) => !made && making?.keyId !== begun.making?.keyId);
  const gone = others.filter(([name]) => !now.has(name)).length;
  if (gone > Math.max(0, others.length + 1 - OPEN_MAKINGS))
    throw new Violation(
      "K16",
      `peer ${slot} made ${others.length} other keys, and may make ${OPEN_MAKINGS} at once`,
      `it gave ${gone} of them up for that of session ${sessionId}`,
    );
};

/** How long what was made waits for its proposal. */
const PENDING_MILLIS = 60_000;
/** A session that has done its part is remembered so, whatever became of what it made. */
const DONE_ITS_PART = "SESSION_LOST";

/** What a process has made, as it stored it. */
interface Made {
  readonly keyId: string;
  readonly sessionId: Digest;
  /** Monotonic milliseconds. */
  readonly since: number;
}

/** Pending shares of one peer's process, each of which goes with what it was made for or made in. */
class PendingShares {
  readonly #made = new Map<string, Made>();
  #gone: ReadonlyArray<readonly [key: string, made: Made]> = [];
  /** Sessions that it has said, or was told, to be over. */
  readonly #over = new Set<string>();

  stored(key: string, made: Made): void {
    this.#made.set(key, made);
  }

  /** @param state that of before */
  erased(key: string, { modules }: PeerState, most: number): void {
    const made = this.#made.get(key);
    this.#made.delete(key);
    const { pending } = (modules["makeKey"] as MakingState | undefined) ?? {};
    const mark = pending?.get(key);
    // A proposal rested on it, this process did not make it or forgot that by a seal, or there was no room for others.
    if (made === undefined || mark?.isHeld !== false || mark.since === undefined) return;
    if ((pending?.size ?? 0) >= most) return;
    this.#gone = [...this.#gone, [key, made]];
  }

  over(sessionId: string): void {
    this.#over.add(sessionId);
  }

  /** Holds what was erased against the state that this has led to. */
  assertRight({ slot, store, state, decidedAt, isDamaged }: Watched): void {
    if (this.#gone.length === 0) return;
    const { ended } = (state?.modules["makeKey"] as MakingState | undefined) ?? {};
    for (const [key, { keyId, sessionId, since }] of this.#gone) {
      if (isDamaged || this.#over.has(sessionId) || decidedAt / 1_000 - since >= PENDING_MILLIS) continue;
      const why = ended?.get(sessionId)?.code ?? DONE_ITS_PART;
      const isDestroyed = store.get("custodyKeys", keyId)?.status === "DESTROYED";
      if (why !== DONE_ITS_PART || isDestroyed || store.get("generations", key) !== undefined) continue;
      throw new Violation(
        "K16",
        `nothing has ended session ${sessionId} at peer ${slot}, nor decided about generation ${key}`,
        "what it made in that session is erased",
      );
    }
    this.#gone = [];
  }
}

type Helping = RepairState["helping"];

/** For how many milliseconds a helper surely keeps a session that came to nothing. */
const KEPT_MILLIS = 9_000;

const NO_HELP: Helping = new Map();

/** The sessions of a peer's memory. */
const helpingIn = (state: PeerState | undefined): Helping =>
  (state?.modules["repairs"] as RepairState | undefined)?.helping ?? NO_HELP;

/** Whether it is a member that nothing keeps from helping. */
const takesPart = ({ cluster, fitness, rejoining }: PeerState): boolean =>
  fitness.unsealed &&
  fitness.integrityFault === undefined &&
  fitness.quarantine === undefined &&
  cluster.membership !== undefined &&
  cluster.promotion.own?.stage !== "DECIDED" &&
  rejoining.recovery === undefined &&
  rejoining.unproven.size === 0;

/**
 * A session of these that a helper has no more, though its time is not over, no other one of its target has begun and
 * members keep what it is about.
 */
const helpLost = (before: Helping, { state, store, decidedAt, isDamaged }: Watched): string | undefined => {
  const now = helpingIn(state);
  if (now === before || state === undefined || isDamaged || !takesPart(state)) return undefined;
  const isKept = (keyId: string, generation: number, transcript: string): boolean => {
    const row = generationAt(store, keyId, generation);
    return row?.transcript === transcript && (row.state === "ACTIVE" || row.state === "HISTORICAL");
  };
  for (const [target, { sessionId, openedAt, keyId, generations }] of before) {
    if (now.has(target) || decidedAt / 1_000 - openedAt >= KEPT_MILLIS) continue;
    if (store.get("custodyKeys", keyId)?.status !== "ACTIVE") continue;
    if (generations.every(({ generation, transcript }) => isKept(keyId, generation, transcript)))
      return `${sessionId} of peer ${target}, begun at ${openedAt} ms`;
  }
  return undefined;
};

/** What one process has held for too long at one look. */
interface Overdue {
  readonly at: number;
  readonly names: ReadonlySet<string>;
}

/** What is there for longer than it may be. */
const overdueIn = (slices: Slices, now: number): ReadonlySet<string> => {
  const names = new Set<string>();
  for (const [slice, part, field, millis] of longest)
    for (const [key, item] of slices[slice]?.[part] ?? []) {
      const since = item[field];
      if (since !== undefined && now - since > millis + LOOKED_AT_MILLIS)
        names.add(`${part} ${key} of ${slice}, since ${since}`);
    }
  return names;
};

export const K16 = (ghost: Ghost): Checker => {
  const { signaturesAtOnce = USUALLY_AT_ONCE, pendingShares = USUALLY_PENDING } = ghost.capacities;
  const { queuedCommands = OF_CALLERS, proposalsPerMessage = USUALLY_IN_LINE } = ghost.capacities;
  const inLine = Math.min(OF_CALLERS, queuedCommands, proposalsPerMessage);
  /** By slot, of the process that runs. */
  const told: Array<Set<string> | undefined> = [];
  /** By slot: the memory of modules whose sizes were held last; a step that changes one makes another. */
  const held: Array<Slices | undefined> = [];
  /** The same, of what it does as a helper. */
  const helping: Array<ReturnType<typeof helpingIn> | undefined> = [];
  /** By slot, of the process that runs. */
  const overdue: Array<Overdue | undefined> = [];
  /** The same. */
  const shares: Array<PendingShares | undefined> = [];
  // What ends a session may come while the flush of its share is under way.
  const sharesOf = (slot: number): PendingShares => (shares[slot] ??= new PendingShares());
  /** By slot: the requests to sign that its process held at one of its last two looks. */
  const fullest: Array<number | undefined> = [];
  const assertGone = (slot: number, slices: Slices, now: number): void => {
    const before = overdue[slot];
    if (before !== undefined && now - before.at < LOOKED_AT_MILLIS) return;
    const names = overdueIn(slices, now);
    overdue[slot] = { at: now, names };
    for (const name of names)
      if (before?.names.has(name) === true)
        throw new Violation("K16", `peer ${slot} holds ${name}`, `it is over, and was before: it is ${now} now`);
  };
  return {
    id: "K16",
    stopped: ({ slot }) => {
      told[slot] = undefined;
      overdue[slot] = undefined;
      shares[slot] = undefined;
      held[slot] = undefined;
      helping[slot] = undefined;
      fullest[slot] = 0;
    },
    written: {
      pending: ({ slot, state, decidedAt }, write) => {
        const own = sharesOf(slot);
        if (write.op !== "remove") own.stored(write.key, { ...write.row, since: decidedAt / 1_000 });
        else if (state !== undefined) own.erased(write.key, state, pendingShares);
      },
    },
    sent: ({ slot }, message) => {
      if (message._tag === "Keygen.Ended") sharesOf(slot).over(message.sessionId);
    },
    delivered: ({ slot }, message) => {
      if (message._tag === "Keygen.Ended") sharesOf(slot).over(message.sessionId);
    },
    handled: ({ slot, honest, state }, _from, message, before) => {
      if (honest && message._tag === "Keygen.Open")
        assertRoomMade(slot, message.sessionId, makingsIn(before), makingsIn(state));
    },
    replied: ({ slot, honest, settings }, { requestId, asked, answer, askedAt, repliedAt }) => {
      if (asked === undefined || !isSigning(asked)) return;
      (told[slot] ??= new Set()).add(requestId);
      if (!honest || askedAt === undefined || answer._tag !== "Rejected" || !LINE_FULL.test(answer.rejection.detail))
        return;
      const isLate = repliedAt - askedAt >= PART_OF_TIME * 1_000 * (settings?.answerMillis ?? 0);
      const count = fullest[slot] ?? 0;
      if (!isLate && count + 1 < inLine)
        throw new Violation(
          "K16",
          `a line has at least ${inLine} places, and peer ${slot} held ${count} requests to sign`,
          `request ${requestId} was turned away, after ${repliedAt - askedAt} µs`,
        );
    },
    stepped: (peer) => {
      const { slot, honest, state, decidedAt } = peer;
      shares[slot]?.assertRight(peer);
      const slices = state?.modules as Slices | undefined;
      if (slices !== undefined) assertGone(slot, slices, Math.floor(decidedAt / 1_000));
      const signing = slices?.["signing"] as Signing | undefined;
      if (signing !== undefined && signing.requests.size + signing.waiting.size > 0)
        assertLine(slot, signing, told[slot] ?? NOBODY, signaturesAtOnce);
      if (slices === held[slot]) return;
      const lost = helpLost(helping[slot] ?? helpingIn(undefined), peer);
      helping[slot] = helpingIn(state);
      if (lost !== undefined)
        throw new Violation(
          "K16",
          `a helper keeps a session for 10 s, which nothing ended here`,
          `peer ${slot} has given up session ${lost}, at ${decidedAt / 1_000} ms`,
        );
      const before = held[slot];
      held[slot] = slices;
      fullest[slot] = Math.max(heldBy(before), heldBy(slices));
      const isWriter = ghost.membership?.writer === slot && honest && ghost.lying === 0;
      if (isWriter) assertTimeUp(slot, before, slices, decidedAt / 1_000);
      for (const [slice, part, bound] of [...most, ["makeKey", "pending", pendingShares] as const]) {
        const size = slices?.[slice]?.[part]?.size ?? 0;
        if (size > bound)
          throw new Violation("K16", `a peer holds at most ${bound} ${part} of ${slice}`, `peer ${slot} holds ${size}`);
      }
      const makings = [...(slices?.["makeKey"]?.["sessions"]?.values() ?? [])].filter(({ made }) => made === undefined);
      if (makings.length > OPEN_MAKINGS)
        throw new Violation(
          "K16",
          `a peer makes at most ${OPEN_MAKINGS} keys at once`,
          `peer ${slot} makes ${makings.length}`,
        );
      const sessions = slices?.["signing"]?.["sessions"];
      if ((sessions?.size ?? 0) <= OF_COORDINATOR) return;
      const counts = new Map<number, number>();
      for (const { coordinator = 0 } of sessions?.values() ?? []) {
        const count = (counts.get(coordinator) ?? 0) + 1;
        counts.set(coordinator, count);
        if (count > OF_COORDINATOR)
          throw new Violation(
            "K16",
            `a peer holds at most ${OF_COORDINATOR} sessions of a coordinator`,
            `peer ${slot} holds more of peer ${coordinator}`,
          );
      }
    },
  };
};
