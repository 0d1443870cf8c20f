/** Carries out a plan: begins each fault at its time, ends it, and writes down what really happened. */
import { Census } from "../../sim/base/Census.ts";
import { Violation } from "../../sim/base/Violation.ts";
import { BackupFaults } from "./BackupFaults.ts";
import type { Callers } from "./Callers.ts";
import type { ChaosCluster } from "./ChaosCluster.ts";
import type { PeerUnderTest } from "./PeerUnderTest.ts";
import { costsWorkOnly, type FaultKind, type PlannedFault } from "./Plan.ts";
import { obstacle, type Tools } from "./Probe.ts";
import { Strangers, strangerWays } from "./Strangers.ts";
import { CALM, type Wire, type WireMode } from "./Wire.ts";

/** An armed flush, or a full disk, waits so long for something to be written. */
const REACH_MILLIS = 6_000;
/** How many successes show a working cluster, and how long they are waited for. */
const SUCCESSES = 3;
const WORKING_MILLIS = 8_000;
const POLL_MILLIS = 10;
/** A request to a peer that may be down, or starting on a busy machine: for how long it is tried, and how often. */
const TRYING_MILLIS = 20_000;
const TRY_AGAIN_MILLIS = 200;
/** A peer's log and journals stay below this; its database and the log of that do not. */
const FILE_BYTES = 1024 * 1024;
/** Where all are short, so much is left: a few transactions, of which the journal takes less than the database. */
const LEFT_BYTES = 64 * 1024;

/** After the last harm, within this time a change must succeed again. */
const WHOLE_MILLIS = 3_000;
/** Callers at once, beside those of the run. */
const CROWD = 256;
const HEAVY = 16;
/** So often a burden is put on in vain before it counts as one that stops everybody. */
const MOST_TIMES = 5;

/** Whether the fault happened; it may also meet a peer that is down already, or that writes nothing in time. */
type Outcome = "done" | "not reached";

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

const outcomeOf = async (isDone: Promise<boolean>): Promise<Outcome> => ((await isDone) ? "done" : "not reached");

export interface FaultsOptions {
  readonly cluster: ChaosCluster;
  readonly tools: Tools;
  readonly callers: Callers;
  readonly broken: (violation: Violation) => void;
}

export class Faults {
  readonly #cluster: ChaosCluster;
  readonly #tools: Tools;
  readonly #callers: Callers;
  /** Peers that were restored, or are about to be: the protocol stands it while one never was (protocol.md 1). */
  readonly #restoredPeers = new Set<number>();
  /** Whether one has gone back undeclared: the protocol stands one (protocol.md 1). */
  #hasForgotten = false;
  readonly #broken: (violation: Violation) => void;
  readonly #backups: BackupFaults;
  /** Faults that happened, by kind. */
  readonly injected = new Census();
  /** Faults that were planned and could not happen. */
  readonly missed = new Census();
  #met = 0;
  /** Faults that may stop changes: how many there were, how many last, and since when none does. */
  #harm = 0;
  #harming = 0;
  #calmSince = 0;
  #isOver = false;

  constructor({ cluster, tools, callers, broken }: FaultsOptions) {
    this.#cluster = cluster;
    this.#tools = tools;
    this.#callers = callers;
    this.#broken = broken;
    this.#backups = new BackupFaults(cluster, tools, broken);
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

  /** Waits for another success of callers: a fault shows most where something is under way. */
  async #working(): Promise<void> {
    const enough = this.#met + SUCCESSES;
    for (const until = performance.now() + WORKING_MILLIS; this.#callers.successes < enough; await pause(POLL_MILLIS))
      if (this.#isOver || performance.now() > until) break;
    this.#met = this.#callers.successes;
  }

  stop(): void {
    this.#isOver = true;
  }

  #do(fault: PlannedFault): Promise<Outcome> {
    const peer = this.#cluster.peer(fault.slot);
    if (!costsWorkOnly.has(fault.kind)) {
      this.#harm += 1;
      this.#harming += 1;
    }
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
      // Other faults of the peer may happen in the middle of this one.
      rotate: () => this.#rotate(peer),
      backup: () => this.#backup(peer, fault),
      restore: () => this.#restored(peer, () => outcomeOf(this.#backups.restore(peer, fault))),
      "old-disk": () => this.#restored(peer, () => this.#returnToOldDisk(peer, fault)),
      "restore-day-zero": () => this.#restored(peer, () => this.#restoreDayZero(peer, fault)),
      "keys-away": () => this.#alone(peer, () => this.#loseKeys(peer, fault)),
      "clock-days": () => this.#alone(peer, () => this.#moveClock(peer, fault)),
      strangers: () => this.#strangers(fault, "httpPort"),
      "strangers-at-peers": () => this.#strangers(fault, "peerPort"),
      crowd: () => this.#burden(fault, CROWD, "many"),
      heavy: () => this.#burden(fault, HEAVY, "heavy"),
    };
    return act[fault.kind]().finally(() => {
      if (costsWorkOnly.has(fault.kind)) return;
      this.#harming -= 1;
      this.#calmSince = performance.now();
    });
  }

  /** Nothing is done to any peer, and nothing was for as long as a cluster takes to work again. */
  get #isWhole(): boolean {
    return this.#harming === 0 && performance.now() - this.#calmSince > WHOLE_MILLIS;
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
    // A process that is still loading does not handle SIGTERM yet.
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
    // One that cannot even start ends with another code, which nothing here waits for.
    if (prlimit === undefined || !(await this.#serves(peer))) return "not reached";
    peer.limitFiles(prlimit, FILE_BYTES, LEFT_BYTES);
    return this.#mustHalt(peer, fault, () => peer.unlimitFiles(prlimit));
  }

  /** A peer whose disk fails ends by itself, with a certain exit code; then it is started again. */
  async #mustHalt(peer: PeerUnderTest, fault: PlannedFault, disarm: () => void): Promise<Outcome> {
    const ended = await peer.endsByItself(REACH_MILLIS);
    if (!ended) disarm();
    // An armed fault may have struck in the last moment.
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

  /** While at least one peer never was restored, and no other is on its way back. */
  async #restored(peer: PeerUnderTest, run: () => Promise<Outcome>): Promise<Outcome> {
    const restored = new Set([...this.#restoredPeers, peer.slot]);
    if (restored.size >= this.#cluster.peers.length) return "not reached";
    return this.#alone(peer, async () => {
      const { length } = peer.replaced;
      const isFirst = !this.#restoredPeers.has(peer.slot);
      this.#restoredPeers.add(peer.slot);
      try {
        return await run();
      } finally {
        if (isFirst && peer.replaced.length === length) this.#restoredPeers.delete(peer.slot);
      }
    });
  }

  /** Nothing is done to a peer by its backup, so other faults may be. */
  #backup(peer: PeerUnderTest, fault: PlannedFault): Promise<Outcome> {
    const take = (): Promise<Outcome> => outcomeOf(this.#backups.take(peer, fault));
    return this.#backups.needsAll(fault) ? this.#alone(peer, take) : take();
  }

  /** The disk of a while ago; its operator knows, and declares it before the peer is unsealed. */
  async #returnToOldDisk(peer: PeerUnderTest, { lastsMillis }: PlannedFault): Promise<Outcome> {
    const { slot } = peer;
    const disk = await this.#cluster.oldDisk(slot);
    await pause(lastsMillis);
    await peer.kill();
    this.#cluster.putBack(slot, disk, "declared");
    await this.#cluster.startSealed(slot);
    // It must not be started before: a development peer unseals itself, and would be a forgetful one.
    while (!this.#isOver && !(await this.#cluster.declare(slot))) await pause(TRY_AGAIN_MILLIS);
    return "done";
  }

  /** The disk from before the founding vote, undeclared until the peer has found out. */
  async #restoreDayZero(peer: PeerUnderTest, { lastsMillis }: PlannedFault): Promise<Outcome> {
    if (this.#hasForgotten || peer.replaced.length > 0 || this.#restoredPeers.size > 1) return "not reached";
    this.#hasForgotten = true;
    const { slot } = peer;
    await peer.kill();
    this.#cluster.putBack(slot, this.#cluster.earliest(slot), "found out");
    await pause(lastsMillis);
    peer.start();
    const isFoundOut = await this.#tries(
      async () => (await this.#cluster.status(slot))?.detail?.quarantine !== undefined,
    );
    const isSaid = await this.#tries(async () => (await this.#cluster.ask(slot, "restore", {})).status === 200);
    return isFoundOut && isSaid ? "done" : "not reached";
  }

  /** The issuer's keys cannot be had when the peer starts, and for a while after. */
  async #loseKeys(peer: PeerUnderTest, fault: PlannedFault): Promise<Outcome> {
    const { keySets } = this.#cluster;
    keySets.isAway = true;
    try {
      await peer.kill();
      peer.start();
      await pause(fault.lastsMillis);
      return "done";
    } finally {
      keySets.isAway = false;
    }
  }

  /** Strangers at one port of one peer: callers and peers must get through all the same. */
  async #strangers(fault: PlannedFault, port: "httpPort" | "peerPort"): Promise<Outcome> {
    const target = await this.#cluster.target(fault.slot, port);
    const strangers = new Strangers(target, strangerWays[fault.amount] ?? "silent");
    const outcome = await this.#mustGoOn(fault, () => pause(fault.lastsMillis));
    strangers.leave();
    return outcome;
  }

  /** More callers than there is room for, or bodies of the largest size. */
  #burden(fault: PlannedFault, count: number, how: "many" | "heavy"): Promise<Outcome> {
    return this.#mustGoOn(fault, () => this.#callers.burden(count, how, fault.lastsMillis));
  }

  /**
   * A mere burden stops nobody: some changes succeed meanwhile, unless something else is done to the cluster. It goes on
   * until one does: a machine that is slow for other reasons takes its time.
   */
  async #mustGoOn(fault: PlannedFault, run: () => Promise<void>): Promise<Outcome> {
    const { successes } = this.#callers;
    const [harm, wasWhole] = [this.#harm, this.#isWhole];
    for (let times = 0; times < MOST_TIMES; times += 1) {
      await run();
      if (!wasWhole || this.#harm !== harm || this.#isOver || this.#callers.successes > successes) return "done";
    }
    this.#broken(new Violation("L4", `${fault.kind} stops nobody`, "no change succeeded in all that time"));
    return "done";
  }

  /** A new integrity key. Where an answer was lost there may be one more: the peer's rows will tell. */
  async #rotate({ slot }: PeerUnderTest): Promise<Outcome> {
    const isDone = await this.#tries(
      async () => (await this.#cluster.ask(slot, "integrity/rotate", {})).status === 200,
    );
    return isDone ? "done" : "not reached";
  }
}
