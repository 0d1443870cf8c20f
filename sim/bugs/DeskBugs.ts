/** Bugs in what waits at a peer: callers until they are told, requests until the driver has room. */
import type { Answer } from "../../core/Action.ts";
import { CommandGate, type Enter } from "../../runtime/CommandGate.ts";
import { Replies, type ReplyPorts } from "../../runtime/Replies.ts";
import type { PlantedBug } from "./PlantedBug.ts";

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
  #last = "";

  override ask(...[start, ...others]: Asking): void {
    super.ask(
      (requestId) => {
        this.#last = requestId;
        start(requestId);
      },
      ...others,
    );
  }

  override answer(requestId: string, answer: Answer): void {
    super.answer(this.isWaiting(requestId) ? requestId : this.#last, answer);
  }
}

class NobodyGone extends Replies {
  override isWaiting(): boolean {
    return true;
  }
}

class NewestFirst extends CommandGate {
  readonly #stack: Array<Enter> = [];

  override enter(enter: Enter): void {
    this.#stack.push(enter);
    super.enter((consumed) => this.#stack.pop()?.(consumed));
  }
}

class NeverLeft extends CommandGate {
  #count = 0;

  override enter(enter: Enter): void {
    super.enter((consumed) =>
      enter(() => {
        this.#count += 1;
        if (this.#count % 2 === 0) consumed();
      }),
    );
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
    tampering: () => ({ replies: (ports) => new NobodyGone(ports) }),
  },
  {
    name: "gate-wide-open",
    changes: "all requests that come at once are in the driver's mailbox at once",
    finds: "S54",
    schedule: "swarm",
    tampering: () => ({ gate: (later) => new CommandGate(later, Number.POSITIVE_INFINITY) }),
  },
  {
    name: "newest-enters-first",
    changes: "of the requests that wait for the driver the newest is handed in first",
    finds: "S54",
    schedule: "swarm",
    tampering: () => ({ gate: (later, most) => new NewestFirst(later, most) }),
  },
  {
    name: "gate-room-never-back",
    changes: "the room of every second request that the driver is done with stays taken",
    finds: "L10",
    orFinds: ["S54"],
    schedule: "swarm",
    tampering: () => ({ gate: (later, most) => new NeverLeft(later, most) }),
  },
];
