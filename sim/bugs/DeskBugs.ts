/** Bugs in what waits at a peer: callers until they are told, requests until the driver has room. */
import type { Answer } from "../../core/Action.ts";
import { CommandGate, type Enter, type GateLimits } from "../../runtime/CommandGate.ts";
import { Replies, type ReplyPorts } from "../../runtime/Replies.ts";
import type { Later } from "../../runtime/Time.ts";
import type { PlantedBug } from "./PlantedBug.ts";

type Entering = Parameters<CommandGate["enter"]>;
type Asking = Parameters<Replies["ask"]>;

/** The timer of a caller goes on once it has been told. */
class ToldAgain extends Replies {
  readonly #later: ReplyPorts["later"];

  constructor(ports: ReplyPorts) {
    super(ports);
    this.#later = ports.later;
  }

  override ask(...[start, millis, late, done]: Asking): void {
    super.ask(start, millis, late, done);
    this.#later(() => done(late), millis);
  }
}

/** Whoever asked last gets what is for anybody that waits no more. */
class ToldToAnybody extends Replies {
  readonly #waiting = new Set<string>();
  #last = "";

  override ask(...[start, millis, late, done]: Asking): void {
    let own = "";
    super.ask(
      (requestId) => {
        own = requestId;
        this.#last = requestId;
        this.#waiting.add(requestId);
        start(requestId);
      },
      millis,
      late,
      (answer) => {
        this.#waiting.delete(own);
        done(answer);
      },
    );
  }

  override answer(requestId: string, answer: Answer): void {
    super.answer(this.#waiting.has(requestId) ? requestId : this.#last, answer);
  }
}

class NobodyGone extends CommandGate {
  override enter(...entering: Entering): () => void {
    super.enter(...entering);
    return () => undefined;
  }
}

class NewestFirst extends CommandGate {
  readonly #stack: Array<Enter> = [];

  override enter(...[caller, enter, turnedAway]: Entering): () => void {
    this.#stack.push(enter);
    return super.enter(caller, (consumed) => this.#stack.pop()?.(consumed), turnedAway);
  }
}

class NeverLeft extends CommandGate {
  #count = 0;

  override enter(...[caller, enter, turnedAway]: Entering): () => void {
    const entering: Enter = (consumed) =>
      enter(() => {
        this.#count += 1;
        if (this.#count % 2 === 0) consumed();
      });
    return super.enter(caller, entering, turnedAway);
  }
}

class ByLength extends CommandGate {
  readonly #places: number;

  constructor(later: Later, limits: GateLimits) {
    super(later, limits);
    this.#places = limits.places;
  }

  override enter(...[caller, enter, turnedAway]: Entering): () => void {
    if (this.size < this.#places) return super.enter(caller, enter, turnedAway);
    turnedAway();
    return () => undefined;
  }
}

class OneLine extends CommandGate {
  override enter(...[, enter, turnedAway]: Entering): () => void {
    return super.enter("anybody", enter, turnedAway);
  }
}

export const deskBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "told-again",
    changes: "a caller that has been answered is told once more when its time would have been up",
    finds: "S54",
    schedule: "swarm",
    tampering: () => ({ replies: (ports) => new ToldAgain(ports) }),
  },
  {
    name: "late-answer-to-another",
    changes: "an answer that comes after its caller's time goes to whoever asked last",
    finds: "S54",
    schedule: "slow-disk-pipeline",
    tampering: () => ({ replies: (ports) => new ToldToAnybody(ports) }),
  },
  {
    name: "carried-out-all-the-same",
    changes: "a request that has waited for the driver is handed in although its caller was told that it is not",
    finds: "S54",
    schedule: "slow-disk-pipeline",
    tampering: () => ({ gate: (later, limits) => new NobodyGone(later, limits) }),
  },
  {
    name: "gate-wide-open",
    changes: "all requests that come at once are in the driver's mailbox at once",
    finds: "S54",
    schedule: "swarm",
    tampering: () => ({
      gate: (later, { places }) => new CommandGate(later, { inside: Number.POSITIVE_INFINITY, places }),
    }),
  },
  {
    name: "newest-enters-first",
    changes: "of the requests that wait for the driver the newest is handed in first",
    finds: "S54",
    schedule: "slow-disk-pipeline",
    tampering: () => ({ gate: (later, limits) => new NewestFirst(later, limits) }),
  },
  {
    name: "gate-room-never-back",
    changes: "the room of every second request that the driver is done with stays taken",
    finds: "L10",
    orFinds: ["S54"],
    schedule: "swarm",
    tampering: () => ({ gate: (later, limits) => new NeverLeft(later, limits) }),
  },
  {
    name: "gate-by-length",
    changes: "where all places before the driver are taken, whoever comes is turned away, whoever holds them",
    finds: "S54",
    schedule: "slow-disk-pipeline",
    tampering: () => ({ gate: (later, limits) => new ByLength(later, limits) }),
  },
  {
    name: "one-line-for-all-callers",
    changes: "requests are handed to the driver as they came, also of a caller who had a turn before others had any",
    finds: "S54",
    schedule: "slow-disk-pipeline",
    tampering: () => ({ gate: (later, limits) => new OneLine(later, limits) }),
  },
];
