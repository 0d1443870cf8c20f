/** One peer as an immutable value, and what the runtime's driver makes of it in one event. */
import { absurd } from "effect";
import { commands } from "../../core/commands/Commands.ts";
import type { Action, Answer } from "../../core/Action.ts";
import type { Digest, Entropy } from "../../core/base/Digest.ts";
import type { Event, Settings } from "../../core/protocol/Event.ts";
import { InvariantViolation } from "../../core/base/Invariant.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Write } from "../../core/Tables.ts";
import { emptySlices, type PeerState } from "../../core/protocol/PeerState.ts";
import { type DriverMemory, type DriverPorts, type KeysInUse, PeerDriver } from "../../runtime/PeerDriver.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import { hexOfWord } from "../base/Mixer.ts";
import { EPOCH_MILLIS } from "../world/SimClock.ts";
import { Violation } from "../base/Violation.ts";
import type { StateFields } from "../../core/protocol/StateFields.ts";
import type { Packet } from "../network/Wire.ts";
import { type Fingerprint, fingerprint, gathered, joined } from "./Fingerprint.ts";
import { Interned } from "./Interned.ts";
import type { StoredRows } from "./StoredRows.ts";

/** Packets of values carry no nonce. */
const NO_NONCE = "0".repeat(64) as Digest;

/** A message on its way. */
export interface Flying {
  readonly from: PeerId;
  readonly to: PeerId;
  readonly message: Message;
  readonly packet: Packet;
  readonly print: Fingerprint;
}

/** The answer to the caller of that number. */
interface Answering {
  readonly call: number;
  readonly answer: Answer;
  readonly print: Fingerprint;
}

/** What leaves a member. */
export type Effect = Flying | Answering;

/** A transaction whose flush is under way, and the effects that follow its end. */
interface Flushing {
  readonly rows: StoredRows;
  readonly memory: Memory;
  readonly effects: ReadonlyArray<Effect>;
}

export interface Member {
  readonly peerId: PeerId;
  readonly rows: StoredRows;
  /** Undefined while no process runs. */
  readonly memory: Memory | undefined;
  readonly flushing: Flushing | undefined;
  /** How many random values it has drawn in all its processes, by the event for which it did. */
  readonly draws: ReadonlyMap<string, number>;
  readonly print: Fingerprint;
}

/** A member and what left it. */
export interface Reaction {
  readonly member: Member;
  readonly effects: ReadonlyArray<Effect>;
}

/** The unchanging part of a member. */
export interface Identity {
  readonly settings: Settings;
  readonly keys: KeysInUse;
}

/** A bug planted on purpose: rows as they reach a disk, answers as they reach a caller, states as they are published. */
export interface Tamper {
  readonly written: (peerId: PeerId, writes: ReadonlyArray<Write>) => ReadonlyArray<Write>;
  readonly answered: (answer: Answer) => Answer;
  readonly stepped: (peerId: PeerId, state: PeerState) => PeerState;
}

/**
 * Here a peer's integrity key never changes, and all speak one version; no rule reads its audit chain; the written part
 * of `seen` is in its rows, and so is what it has pinned.
 */
const leftOut: ReadonlySet<string> = new Set<keyof StateFields>([
  "forwarded",
  "pace",
  "writerHeardAt",
  "integrityVersion",
  "audit",
  "seenWritten",
]);

const empty = emptySlices();

/** Every other field of every slice, whatever is added to one; the empty values name them. */
const counted: ReadonlyArray<(state: PeerState) => unknown> = [
  ...(["fitness", "rejoining", "signed", "undecided", "probing", "requests"] as const).flatMap((name) =>
    Object.keys(empty[name])
      .filter((field) => !leftOut.has(field))
      .map((field) => (state: PeerState) => (state[name] as unknown as Readonly<Record<string, unknown>>)[field]),
  ),
  ({ cluster }) => cluster.membership?.digest,
  ({ cluster }) => (cluster.membership === undefined ? cluster.founding : undefined),
  ({ cluster }) => cluster.promotion,
  ({ registry }) => registry,
  ({ modules }) => modules,
  ({ timers }) => timers,
];

/** A process's memory with its fingerprint, and those of its fields. */
export interface Memory extends DriverMemory {
  readonly prints: ReadonlyArray<Fingerprint>;
  readonly print: Fingerprint;
}

/** Most fields are the very same ones as before the event. */
export const memoryOf = (memory: DriverMemory, before: Memory | undefined): Memory => {
  const { state } = memory;
  const prints = counted.map((of, index) => {
    const known = before?.prints[index];
    return known !== undefined && before !== undefined && of(before.state) === of(state)
      ? known
      : fingerprint(of(state));
  });
  let print = fingerprint(prints.length);
  for (const each of prints) print = joined(print, each);
  return { state, keys: memory.keys, prints, print };
};

/** A member from its parts; without `flushing` none is under way. */
export const memberOf = (parts: Omit<Member, "print">): Member => {
  const { rows, memory, flushing, draws } = parts;
  const process = memory === undefined ? fingerprint(undefined) : memory.print;
  const idle = joined(rows.print, joined(process, fingerprint(draws)));
  const print =
    flushing === undefined
      ? idle
      : joined(
          idle,
          joined(
            flushing.rows.print,
            joined(flushing.memory.print, gathered(flushing.effects.map((effect) => effect.print))),
          ),
        );
  return { ...parts, print };
};

/** It follows from fresh randomness, not from what is signed alone. */
const signatureIn = (answer: Answer): string => (answer._tag === "Signed" ? answer.signature : "");

interface Known {
  readonly time: number;
  readonly reaction: Reaction;
}

/** Runs events through the runtime's own driver, on members as values; the same event at the same member only once. */
export class Bench {
  readonly #cryptography: Cryptography;
  readonly #identities: ReadonlyMap<PeerId, Identity>;
  readonly #tamper: Tamper;
  readonly #members = new Interned<Member>();
  readonly #flights = new Interned<Flying>();
  readonly #answers = new Interned<Answering>();
  readonly #reactions = new WeakMap<Member, Map<unknown, Known>>();

  constructor(cryptography: Cryptography, identities: ReadonlyMap<PeerId, Identity>, tamper: Tamper) {
    this.#cryptography = cryptography;
    this.#identities = identities;
    this.#tamper = tamper;
  }

  /**
   * One event at an idle member, `time` milliseconds after the epoch; without an
   * event nothing happens. `key` is one message or text for one event. Throws a
   * {@link Violation}.
   */
  handle(
    member: Member,
    key: Flying | string,
    time: number,
    eventOf: (state: PeerState) => Event | undefined,
  ): Reaction {
    return this.#remembered(member, key, time, () => {
      const event = member.memory && eventOf(member.memory.state);
      return event === undefined
        ? { member, effects: [] }
        : this.#run(member, key, time, (driver) => driver.dispatch(event));
    });
  }

  /** A process starts on a member's rows and is unsealed. */
  start(member: Member, time: number): Reaction {
    const { keys } = this.#identity(member.peerId);
    return this.#remembered(member, "start", time, () =>
      this.#run(member, "start", time, (driver) => {
        driver.dispatch({ _tag: "Verifying" });
        driver.unseal(keys);
      }),
    );
  }

  /** The flush under way has ended well. */
  endFlush(member: Member, { rows, memory, effects }: Flushing): Reaction {
    return this.#remembered(member, "flush", 0, () => ({
      member: this.#one({ ...member, rows, memory, flushing: undefined }),
      effects,
    }));
  }

  /** The process ends; `kept` says whether the transaction under way was flushed. */
  crash(member: Member, kept: boolean): Member {
    const rows = kept && member.flushing !== undefined ? member.flushing.rows : member.rows;
    return this.#one({ ...member, rows, memory: undefined, flushing: undefined });
  }

  #one(parts: Omit<Member, "print">): Member {
    return this.#members.one(memberOf(parts));
  }

  #identity(peerId: PeerId): Identity {
    const identity = this.#identities.get(peerId);
    if (identity === undefined) throw new RangeError(`there is no peer ${peerId}`);
    return identity;
  }

  #remembered(member: Member, key: unknown, time: number, react: () => Reaction): Reaction {
    const all = this.#reactions.get(member) ?? new Map<unknown, Known>();
    const known = all.get(key);
    if (known !== undefined && known.time === time) return known.reaction;
    const reaction = react();
    this.#reactions.set(member, all.set(key, { time, reaction }));
    return reaction;
  }

  #run(member: Member, key: Flying | string, time: number, run: (driver: PeerDriver) => void): Reaction {
    const { peerId } = member;
    let actions: Array<Action> = [];
    let { draws } = member;
    const cause = typeof key === "string" ? fingerprint(key) : key.print;
    const drawn = (): Entropy => {
      // No two draws give the same, so any such names do: these are the same in whichever order the events came.
      const word = hexOfWord(cause.left) + hexOfWord(cause.right);
      const count = (draws.get(word) ?? 0) + 1;
      draws = new Map(draws).set(word, count);
      return (word + hexOfWord(peerId) + hexOfWord(count)).repeat(2) as Entropy;
    };
    let commit: { readonly rows: StoredRows; readonly done: () => void } | undefined;
    const ports: DriverPorts = {
      store: {
        atStart: member.rows,
        get: member.rows.get,
        scan: member.rows.scan,
        commit: (writes, done) => {
          commit = { rows: member.rows.with(this.#tamper.written(peerId, writes)), done };
        },
      },
      clock: () => ({ now: EPOCH_MILLIS + time, asBefore: [], elapsed: time }),
      entropy: drawn,
      crypto: this.#cryptography.crypto,
      commands,
      providers: this.#cryptography.providers,
      ceremony: this.#cryptography.ceremony,
      keyCrypto: this.#cryptography.keyCrypto,
      settings: this.#identity(peerId).settings,
      judgesTokens: () => true,
      isWhole: () => true,
      send: (to, message) => void actions.push({ _tag: "Send", to, message }),
      reply: (requestId, answer) => void actions.push({ _tag: "Reply", requestId, answer }),
      // The state itself says which timers are armed and when they are due.
      setTimer: () => undefined,
      halt: (reason) => {
        throw reason instanceof InvariantViolation
          ? new Violation(reason.id, `peer ${peerId} halted by itself`, reason.message)
          : reason;
      },
    };
    const driver = new PeerDriver(ports, member.memory);
    run(driver);
    const published = ({ state, keys }: DriverMemory): DriverMemory => ({
      state: this.#tamper.stepped(peerId, state),
      keys,
    });
    const memory = memoryOf(published(driver.memory), member.memory);
    const effects = this.#effectsOf(peerId, memory, actions);
    const pending = commit;
    if (pending === undefined) return { member: this.#one({ ...member, memory, flushing: undefined, draws }), effects };
    // The end of the flush does not depend on what happens elsewhere meanwhile, so its effect is known already.
    actions = [];
    pending.done();
    const then = memoryOf(published(driver.memory), memory);
    const flushing = { rows: pending.rows, memory: then, effects: this.#effectsOf(peerId, then, actions) };
    return { member: this.#one({ ...member, memory, flushing, draws }), effects };
  }

  /** A message of a member that its driver did not ask for; undefined where no process runs. */
  utterance({ peerId, memory }: Member, to: PeerId, message: Message): Flying | undefined {
    return memory && this.#flying(peerId, memory, to, message);
  }

  #flying(peerId: PeerId, memory: Memory, to: PeerId, message: Message): Flying | undefined {
    const { signer } = this.#identity(peerId).keys;
    const packet = this.#cryptography.wire.seal(memory.state, signer, () => NO_NONCE, to, message);
    if (packet === undefined) return undefined;
    const under = memory.state.cluster.membership?.digest;
    const print = joined(joined(fingerprint(peerId * 64 + to), fingerprint(under)), fingerprint(message));
    return this.#flights.one({ from: peerId, to, message, packet, print });
  }

  #effectsOf(peerId: PeerId, memory: Memory, actions: ReadonlyArray<Action>): ReadonlyArray<Effect> {
    return actions.flatMap((action): ReadonlyArray<Effect> => {
      switch (action._tag) {
        case "SetTimer":
          return [];
        case "Reply": {
          const { requestId } = action;
          const answer = this.#tamper.answered(action.answer);
          const print = joined(fingerprint(requestId), joined(fingerprint(answer), fingerprint(signatureIn(answer))));
          return [this.#answers.one({ call: Number(requestId.slice(1)), answer, print })];
        }
        case "Send": {
          const said = this.#flying(peerId, memory, action.to, action.message);
          return said === undefined ? [] : [said];
        }
        default:
          return absurd(action);
      }
    });
  }
}
