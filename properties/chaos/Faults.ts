/** Carries out a plan: does each fault at its time, sees to its end, and writes down what really happened. */
import { Census } from "../../sim/Census.ts";
import { Violation } from "../../sim/Violation.ts";
import type { ChaosCluster } from "./ChaosCluster.ts";
import type { PeerUnderTest } from "./PeerUnderTest.ts";
import type { FaultKind, PlannedFault } from "./Plan.ts";
import { obstacle, type Tools } from "./Probe.ts";
import { CALM, type Wire, type WireMode } from "./Wire.ts";

/** An armed flush, or a full disk, waits so long for something to be written. */
const REACH_MILLIS = 6_000;
/** How many successes make a cluster that works, and how long they are waited for. */
const SUCCESSES = 3;
const WORKING_MILLIS = 8_000;
const POLL_MILLIS = 10;
/** A request to a peer that may be down, or be starting on a busy machine, is tried so long, and so often. */
const TRYING_MILLIS = 20_000;
const TRY_AGAIN_MILLIS = 200;
/** A peer's log and journals stay below this, its database and the log of it do not. */
const FILE_BYTES = 1024 * 1024;
/** Where all are short, so much is left: a few transactions, of which the journal takes less than the database. */
const LEFT_BYTES = 64 * 1024;

/** Whether the fault happened; it may also meet a peer that is down already, or that writes nothing in time. */
type Outcome = "done" | "not reached";

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

export interface FaultsOptions {
  readonly cluster: ChaosCluster;
  readonly tools: Tools;
  /** How many registrations have succeeded by now. */
  readonly successes: () => number;
  readonly broken: (violation: Violation) => void;
}

export class Faults {
  readonly #cluster: ChaosCluster;
  readonly #tools: Tools;
  readonly #successes: () => number;
  readonly #broken: (violation: Violation) => void;
  /** Faults that happened, by kind. */
  readonly injected = new Census();
  /** Faults that were planned and met nobody. */
  readonly missed = new Census();
  #met = 0;
  #isOver = false;

  constructor({ cluster, tools, successes, broken }: FaultsOptions) {
    this.#cluster = cluster;
    this.#tools = tools;
    this.#successes = successes;
    this.#broken = broken;
  }

  /** Runs the plan to its end; ends earlier, in order, after {@link stop}. */
  async run(plan: ReadonlyArray<PlannedFault>): Promise<void> {
    const began = performance.now();
    const underWay: Array<Promise<void>> = [];
    for (const fault of plan) {
      if (obstacle(fault.kind, this.#tools) !== undefined) continue;
      await pause(Math.max(0, fault.at - (performance.now() - began)));
      if (!fault.isHurried) await this.#working();
      if (this.#isOver) break;
      underWay.push(
        this.#do(fault).then((outcome) => (outcome === "done" ? this.injected : this.missed).add(fault.kind)),
      );
    }
    await Promise.all(underWay);
  }

  /** Waits until callers have succeeded since the last time: a fault shows most where something is under way. */
  async #working(): Promise<void> {
    const enough = this.#met + SUCCESSES;
    for (const until = performance.now() + WORKING_MILLIS; this.#successes() < enough; await pause(POLL_MILLIS))
      if (this.#isOver || performance.now() > until) break;
    this.#met = this.#successes();
  }

  stop(): void {
    this.#isOver = true;
  }

  #do(fault: PlannedFault): Promise<Outcome> {
    const peer = this.#cluster.peer(fault.slot);
    const act: Readonly<Record<FaultKind, () => Promise<Outcome>>> = {
      kill: () => this.#alone(peer, () => this.#restart(peer, fault, () => peer.kill())),
      "kill-all": () => this.#killAll(fault),
      terminate: () => this.#alone(peer, () => this.#terminate(peer, fault)),
      pause: () => this.#alone(peer, () => this.#pause(peer, fault)),
      cut: () => this.#wires(this.#between(fault), { _tag: "Cut" }, fault),
      "cut-one-way": () => this.#wires([this.#cluster.wire(fault.slot, fault.other)], { _tag: "Cut" }, fault),
      isolate: () => this.#wires(this.#cluster.wiresOf(fault.slot), { _tag: "Cut" }, fault),
      delay: () => this.#wires(this.#between(fault), { _tag: "Delay", millis: fault.amount }, fault),
      swallow: () => this.#wires(this.#between(fault), { _tag: "Swallow" }, fault),
      flaky: () => this.#wires(this.#between(fault), { _tag: "Flaky", perMille: fault.amount }, fault),
      "flush-lost": () => this.#alone(peer, () => this.#failFlush(peer, "lost", fault)),
      "flush-kept": () => this.#alone(peer, () => this.#failFlush(peer, "kept", fault)),
      "disk-full": () => this.#alone(peer, () => this.#fillDisk(peer, fault)),
      clock: () => this.#alone(peer, () => this.#moveClock(peer, fault)),
      faketime: () => this.#alone(peer, () => this.#fakeTime(peer, fault)),
      seal: () => this.#alone(peer, () => this.#seal(peer, fault)),
      // Whatever else befalls the peer meanwhile may befall it in the middle of this.
      rotate: () => this.#rotate(peer),
    };
    return act[fault.kind]();
  }

  /** Two faults of one process at a time would be one fault and a half. */
  async #alone(peer: PeerUnderTest, run: () => Promise<Outcome>): Promise<Outcome> {
    if (peer.isTaken || !peer.isUp) return "not reached";
    peer.isTaken = true;
    try {
      return await run();
    } finally {
      peer.isTaken = false;
    }
  }

  async #restart(peer: PeerUnderTest, { lastsMillis }: PlannedFault, end: () => Promise<unknown>): Promise<Outcome> {
    await end();
    await pause(lastsMillis);
    peer.start();
    return "done";
  }

  async #killAll({ lastsMillis }: PlannedFault): Promise<Outcome> {
    const free = this.#cluster.peers.filter((peer) => !peer.isTaken && peer.isUp);
    if (free.length < this.#cluster.peers.length) return "not reached";
    for (const peer of free) peer.isTaken = true;
    await Promise.all(free.map((peer) => peer.kill()));
    await pause(lastsMillis);
    for (const peer of free) {
      peer.start();
      peer.isTaken = false;
    }
    return "done";
  }

  async #terminate(peer: PeerUnderTest, fault: PlannedFault): Promise<Outcome> {
    // A process that is still loading has not yet said what it does about SIGTERM.
    if (!(await this.#serves(peer))) return "not reached";
    return this.#restart(peer, fault, async () => {
      if (await peer.terminate()) return;
      const words = peer.lastWords(5).join("\n    ");
      this.#broken(
        new Violation("EXIT", `peer ${peer.slot} was told to close`, `it did not in 30 s, or not well:\n    ${words}`),
      );
    });
  }

  async #pause(peer: PeerUnderTest, { lastsMillis }: PlannedFault): Promise<Outcome> {
    await peer.pause();
    await pause(lastsMillis);
    peer.resume();
    return "done";
  }

  #between({ slot, other }: PlannedFault): ReadonlyArray<Wire> {
    return [this.#cluster.wire(slot, other), this.#cluster.wire(other, slot)];
  }

  async #wires(wires: ReadonlyArray<Wire>, mode: WireMode, { lastsMillis }: PlannedFault): Promise<Outcome> {
    for (const wire of wires) wire.mode = mode;
    await pause(lastsMillis);
    for (const wire of wires) wire.mode = CALM;
    return "done";
  }

  async #failFlush(peer: PeerUnderTest, how: "lost" | "kept", fault: PlannedFault): Promise<Outcome> {
    peer.armFlush(how);
    const outcome = await this.#mustHalt(peer, fault, () => peer.disarmFlush());
    if (outcome === "not reached" && peer.hasFailedFlush)
      this.#broken(new Violation("EXIT", `a flush of peer ${peer.slot} failed`, "it went on"));
    return outcome;
  }

  async #fillDisk(peer: PeerUnderTest, fault: PlannedFault): Promise<Outcome> {
    const { prlimit } = this.#tools;
    // One that cannot even start says so, and by another code, which nothing here waits for.
    if (prlimit === undefined || !(await this.#serves(peer))) return "not reached";
    peer.limitFiles(prlimit, FILE_BYTES, LEFT_BYTES);
    return this.#mustHalt(peer, fault, () => peer.unlimitFiles(prlimit));
  }

  /** A peer whose disk fails ends by itself, and says so by its exit code; then it is started again. */
  async #mustHalt(peer: PeerUnderTest, fault: PlannedFault, disarm: () => void): Promise<Outcome> {
    const ended = await peer.endsByItself(REACH_MILLIS);
    if (!ended) disarm();
    // What was armed may have been reached in the last moment.
    if (!ended && !(await peer.endsByItself(500))) {
      peer.mustLive();
      return "not reached";
    }
    return this.#restart(peer, fault, async () => undefined);
  }

  async #moveClock(peer: PeerUnderTest, { amount, lastsMillis }: PlannedFault): Promise<Outcome> {
    peer.moveClock(amount);
    await pause(lastsMillis);
    if (peer.isUp) peer.moveClock(0);
    return "done";
  }

  async #fakeTime(peer: PeerUnderTest, { amount, lastsMillis }: PlannedFault): Promise<Outcome> {
    const library = this.#tools.libfaketime;
    if (library === undefined) return "not reached";
    await peer.kill();
    peer.start({ library, offsetMillis: amount });
    await pause(lastsMillis);
    await peer.kill();
    peer.start();
    return "done";
  }

  async #seal(peer: PeerUnderTest, { lastsMillis }: PlannedFault): Promise<Outcome> {
    const { status } = await this.#cluster.ask(peer.slot, "seal", {});
    await pause(lastsMillis);
    await this.#cluster.unseal(peer.slot);
    return status === 200 ? "done" : "not reached";
  }

  /** Tries until it is done, or the time for it is over. */
  async #tries(what: () => Promise<boolean>): Promise<boolean> {
    const until = performance.now() + TRYING_MILLIS;
    while (!this.#isOver && performance.now() < until) {
      if (await what()) return true;
      await pause(TRY_AGAIN_MILLIS);
    }
    return false;
  }

  /** Waits for a process that has come up. */
  #serves({ slot }: PeerUnderTest): Promise<boolean> {
    return this.#tries(async () => (await this.#cluster.ask(slot, "health")).status === 200);
  }

  /** A new integrity key. Where an answer was lost there is one more: the peer's rows will tell. */
  async #rotate({ slot }: PeerUnderTest): Promise<Outcome> {
    const isDone = await this.#tries(
      async () => (await this.#cluster.ask(slot, "integrity/rotate", {})).status === 200,
    );
    return isDone ? "done" : "not reached";
  }
}
