/** Bugs in what carries messages between peers: links, answers kept open, timers. */
import { FrameReader, HEADER_BYTES } from "../../runtime/transport/Frames.ts";
import { HeldAnswers, type OpenExchange } from "../../runtime/transport/HeldAnswers.ts";
import {
  type Exchange,
  type ExchangeEnd,
  Link,
  type LinkLimits,
  type LinkPorts,
} from "../../runtime/transport/Link.ts";
import type { Later } from "../../runtime/Time.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Letter } from "../network/Letter.ts";
import type { PlantedBug } from "./PlantedBug.ts";

/** What comes of a frame's beginning alone is lost. */
class ReadsAtOnce extends FrameReader {
  override push(bytes: Uint8Array): string | undefined {
    return bytes.length < HEADER_BYTES ? undefined : super.push(bytes);
  }
}

type Held = OpenExchange<Letter>;

const newestDropped = (ports: LinkPorts<Letter>, limits: LinkLimits): Link<Letter> => {
  let waiting = 0;
  const transmit = (exchange: Exchange<Letter>): void => {
    if (exchange.message.lane === "round" && !exchange.isAgain) waiting -= 1;
    ports.transmit(exchange);
  };
  class NewestDropped extends Link<Letter> {
    override send(letter: Letter): void {
      if (letter.lane === "round" && waiting >= limits.queuedMessages) return ports.dropped("queue full", letter);
      if (letter.lane === "round") waiting += 1;
      super.send(letter);
    }
  }
  return new NewestDropped({ ...ports, transmit }, limits);
};

class NoFreedom extends Link<Letter> {
  override ended(exchange: Exchange<Letter>, how: ExchangeEnd): void {
    if (how !== "unreachable") super.ended(exchange, how);
  }
}

class OnceMore extends Link<Letter> {
  override ended(exchange: Exchange<Letter>, how: ExchangeEnd): void {
    super.ended(exchange, how);
    if (how === "unreachable") super.send(exchange.message);
  }
}

class HeldTwice extends HeldAnswers<Letter> {
  override hold(from: PeerId, exchange: Held): void {
    super.hold(from, exchange);
    super.hold(from, exchange);
  }
}

/** Whoever asked last gets what is for anybody. */
class HeldForAnybody extends HeldAnswers<Letter> {
  #last: PeerId = 0;

  override hold(from: PeerId, exchange: Held): void {
    this.#last = from;
    super.hold(from, exchange);
  }

  override use(_to: PeerId, letter: Letter): boolean {
    return super.use(this.#last, letter);
  }
}

/** Of the timers that are due at one moment, the first alone. */
const oneAtATime = (real: Later): Later => {
  let lastRun: (() => void) | undefined;
  let lastDelay = -1;
  return (run, afterMillis) => {
    const isTogether = afterMillis === lastDelay && lastRun !== undefined;
    if (isTogether) return () => undefined;
    lastDelay = afterMillis;
    lastRun = run;
    return real(() => {
      lastRun = undefined;
      run();
    }, afterMillis);
  };
};

export const linkBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "newest-of-a-round-dropped",
    changes: "when too many messages of a round wait for a link, the newest is dropped, not the oldest",
    finds: "S48",
    schedule: "swarm",
    tampering: () => ({ link: newestDropped }),
  },
  {
    name: "broken-link-stays-taken",
    changes: "a connection over which a message did not get through is never used again",
    finds: "S48",
    schedule: "swarm",
    tampering: () => ({ link: (ports, limits) => new NoFreedom(ports, limits) }),
  },
  {
    name: "one-too-many-under-way",
    changes: "a link has one message more under way than it may",
    finds: "S48",
    schedule: "swarm",
    tampering: () => ({ link: (ports, limits) => new Link(ports, { ...limits, connections: limits.connections + 1 }) }),
  },
  {
    name: "sent-until-it-arrives",
    changes: "a link sends what did not get through again, behind what has waited meanwhile",
    finds: "S48",
    schedule: "swarm",
    tampering: () => ({ link: (ports, limits) => new OnceMore(ports, limits) }),
  },
  {
    name: "answered-twice",
    changes: "an answer that is kept open is used for two messages",
    finds: "S48",
    schedule: "swarm",
    tampering: () => ({ held: (time, most) => new HeldTwice(time, most) }),
  },
  {
    name: "answered-to-anybody",
    changes: "a message goes as the answer to whoever asked last, whomever it is for",
    finds: "S48",
    schedule: "swarm",
    tampering: () => ({ held: (time, most) => new HeldForAnybody(time, most) }),
  },
  {
    name: "one-timer-at-a-time",
    changes: "of the timers that are set for the same moment, the first alone fires",
    finds: "L2",
    orFinds: ["L1", "L5"],
    schedule: "swarm",
    tampering: () => ({ later: oneAtATime }),
  },
  {
    name: "timer-for-ever",
    changes: "a timer for a moment more than five seconds ahead is set for one that never comes",
    finds: "S51",
    schedule: "swarm",
    tampering: () => ({
      later: (real) => (run, afterMillis) => real(run, afterMillis > 5_000 ? Number.POSITIVE_INFINITY : afterMillis),
    }),
  },
  {
    name: "frames-in-one-piece",
    changes: "a peer that reads a part of a frame's header forgets it",
    finds: "S50",
    crypto: "codec",
    tampering: () => ({ frames: (sink) => new ReadsAtOnce(sink) }),
  },
];
