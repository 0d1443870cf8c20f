/**
 * An instance alone is promoted to a cluster of real processes, while callers go on: each process ends at each of its
 * steps in turn, links break, and operators ask again and again, others with another plan (docs/chaos.md).
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Either, Schema } from "effect";
import { stringify } from "yaml";
import { SOURCE } from "../../server/dev/ClusterFile.ts";
import { Census } from "../../sim/base/Census.ts";
import { Violation } from "../../sim/base/Violation.ts";
import type { Callers } from "./Callers.ts";
import type { ChaosCluster } from "./ChaosCluster.ts";
import type { PromotionPlan } from "./ClusterOptions.ts";
import type { Estate } from "./Estate.ts";
import { EstateJudge } from "./EstateJudge.ts";
import { Faults } from "./Faults.ts";
import type { PeerUnderTest } from "./PeerUnderTest.ts";
import type { Tools } from "./Probe.ts";
import { drawLinks, drawSteps } from "./PromotionPlan.ts";

/** So long it may take until any peer comes to its next step, or ends at one. */
const STEP_MILLIS = 120_000;
/** Once nothing is done to it any more. */
const DONE_MILLIS = 60_000;
/** Links are broken for no longer. */
const MOST_MILLIS = 600_000;
const OPERATORS_MILLIS = 700;
const POLL_MILLIS = 50;
const LOOK_MILLIS = 500;
/** Callers have had so many successes before it begins. */
const SUCCESSES = 40;
const ALONE_MILLIS = 30_000;

const RULE = "an instance alone is promoted until it is done";

const Told = Schema.parseJson(
  Schema.Struct({
    promotion: Schema.NullOr(
      Schema.Struct({ role: Schema.String, stage: Schema.String, transferId: Schema.String, waitsFor: Schema.String }),
    ),
  }),
);
const decodeTold = Schema.decodeEither(Told);
const decodeCode = Schema.decodeEither(Schema.parseJson(Schema.Struct({ code: Schema.String })));

type Promotion = NonNullable<typeof Told.Type.promotion>;

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

export interface PromotionOptions {
  readonly seed: number;
  readonly cluster: ChaosCluster;
  readonly callers: Callers;
  readonly tools: Tools;
  readonly broken: (violation: Violation) => void;
  readonly isBroken: () => boolean;
  readonly say: (line: string) => void;
}

export class PromotionUnderFaults {
  readonly #options: PromotionOptions;
  readonly #links: Faults;
  /** Ends at steps, by table and how. */
  readonly #ends = new Census();
  readonly #missed = new Census();
  /** What each peer said last, by slot. */
  readonly #stages = new Map<number, string>();
  /** The transfer that a peer has said it pinned or accepted. */
  #transferId: string | undefined;
  #isDone = false;
  /** When a peer last came to one of its steps. */
  #steppedAt = 0;

  constructor(options: PromotionOptions) {
    this.#options = options;
    const { broken, callers, cluster, tools } = options;
    this.#links = new Faults({ cluster, tools, callers, broken });
  }

  /** What happened, by kind. */
  get injected(): ReadonlyArray<readonly [string, number]> {
    return [...this.#links.injected.entries(), ...this.#ends.entries()];
  }

  get missed(): ReadonlyArray<readonly [string, number]> {
    return [...this.#links.missed.entries(), ...this.#missed.entries()];
  }

  /** From an instance alone, with what it has, to a cluster. What is wrong is told as broken. */
  async run(estate: Estate): Promise<void> {
    const { broken, callers, cluster, seed, say } = this.#options;
    const enough = callers.successes + SUCCESSES;
    for (const until = performance.now() + ALONE_MILLIS; callers.successes < enough; await pause(POLL_MILLIS))
      if (performance.now() > until || this.#options.isBroken()) break;
    say("starting the targets");
    const plan = await cluster.openTargets();
    const total = cluster.peers.length;
    const began = performance.now();
    this.#steppedAt = began;
    say(`promoting peer ${SOURCE} to a cluster of ${total}`);
    const linking = this.#links.run(drawLinks(seed, total, MOST_MILLIS));
    for (const peer of cluster.peers) {
      const [first] = drawSteps(seed, peer.slot);
      if (first !== undefined) peer.armStep(first.table, first.how);
    }
    const operating = this.#operate(plan);
    await Promise.all(cluster.peers.map((peer) => this.#endAtSteps(peer)));
    this.#links.stop();
    await this.#becomesDone();
    this.#isDone = true;
    await Promise.all([linking, operating]);
    cluster.calm();
    if (!this.#options.isBroken()) await this.#repeat(plan);
    say(`promoted after ${((performance.now() - began) / 1000).toFixed(1)} s`);
    if (this.#options.isBroken()) return;
    const slots = cluster.peers.map(({ slot }) => slot);
    const found = await new EstateJudge({ slots, estate, callers, say }).judge();
    if (found !== undefined) broken(found);
  }

  /** Lets one peer end at each of its steps. Source and targets wait for each other, so all do at once. */
  async #endAtSteps(peer: PeerUnderTest): Promise<void> {
    const steps = drawSteps(this.#options.seed, peer.slot);
    for (const [index, { table, how }] of steps.entries()) {
      const name = `${peer.slot === SOURCE ? "source" : "target"} ${table} ${how}`;
      const isReached = await this.#reaches(peer);
      (isReached ? this.#ends : this.#missed).add(name);
      this.#steppedAt = performance.now();
      const next = steps[index + 1];
      if (isReached && !(await peer.endsByItself(STEP_MILLIS)))
        return this.#broken("EXIT", `peer ${peer.slot} came to its step ${table} (${how})`, "it went on");
      if (this.#options.isBroken()) return;
      if (isReached) peer.start(undefined, next);
      else if (next === undefined) peer.disarmStep();
      else peer.armStep(next.table, next.how);
      if (next === undefined) peer.mustLive();
    }
  }

  /** Waits for its step, which others may have to come to theirs for; false where all are behind it. */
  async #reaches(peer: PeerUnderTest): Promise<boolean> {
    for (; performance.now() < this.#steppedAt + STEP_MILLIS; await pause(POLL_MILLIS)) {
      const stages = [this.#stages.get(peer.slot), this.#stages.get(SOURCE)];
      if (peer.hasReachedStep || this.#options.isBroken()) break;
      if (stages.includes("DONE") || stages.includes("INSTALLED")) break;
    }
    return peer.hasReachedStep;
  }

  /** Operators ask until it is done, and look at all peers; at times others ask for another cluster. */
  async #operate(plan: PromotionPlan): Promise<void> {
    const { cluster } = this.#options;
    const rival = { ...plan, threshold: plan.threshold === plan.total ? 2 : plan.threshold + 1 };
    for (let times = 0; !this.#isDone && !this.#options.isBroken(); times += 1) {
      await this.#ask({ ...plan, ...(times % 5 === 0 && { dryRun: true }) }, ["PROMOTION_REFUSED"]);
      if (times % 3 === 0) await this.#ask(rival, ["PROMOTION_REFUSED", "PROMOTION_UNDER_WAY"], false);
      for (const { slot } of cluster.peers) await this.#look(slot);
      await pause(OPERATORS_MILLIS);
    }
  }

  /** A refusal is one of those that are expected, or says that the peer cannot just now. */
  async #ask(body: object, expected: ReadonlyArray<string>, mayBeTaken = true): Promise<void> {
    const { status, text } = await this.#options.cluster.ask(SOURCE, "promotion", body);
    if (status === 0 || status === 503 || (mayBeTaken && (status === 200 || status === 202))) return;
    const code = Either.getOrUndefined(decodeCode(text))?.code ?? "";
    if (!expected.includes(code)) this.#broken("L6", "operators asked for a promotion", `it gave ${status}: ${text}`);
  }

  /** What a peer says of it; undefined where it does not. There is one transfer, once any peer has told of it. */
  async #look(slot: number): Promise<Promotion | undefined> {
    const { status, text } = await this.#options.cluster.ask(slot, "promotion");
    if (status !== 200) return undefined;
    const told = Either.getOrUndefined(decodeTold(text))?.promotion ?? undefined;
    if (told === undefined) {
      if (slot === SOURCE && this.#transferId !== undefined)
        this.#broken("S27", `the draft ${this.#transferId} is pinned`, "its source does not know it any more");
      return undefined;
    }
    this.#stages.set(slot, told.stage);
    this.#transferId ??= told.transferId;
    if (told.transferId !== this.#transferId)
      this.#broken("S27", `the draft ${this.#transferId} is pinned`, `peer ${slot} tells of ${told.transferId}`);
    return told;
  }

  async #becomesDone(): Promise<void> {
    let told: Promotion | undefined;
    const until = performance.now() + DONE_MILLIS;
    for (; !this.#options.isBroken(); await pause(LOOK_MILLIS)) {
      told = await this.#look(SOURCE);
      if (told?.stage === "DONE") return;
      if (performance.now() > until)
        return this.#broken("L6", RULE, `it is ${told?.stage ?? "unknown"}, and waits for ${told?.waitsFor ?? "?"}`);
    }
  }

  /** The same command again, at the source; and where it stands, at each peer. */
  async #repeat({ targets, ...numbers }: PromotionPlan): Promise<void> {
    const { cluster } = this.#options;
    const file = join(cluster.folder.root, "plan.yaml");
    const named = targets.map(({ peerId, url, identityKey }) => ({
      "peer-id": peerId,
      url,
      "identity-key": identityKey,
    }));
    writeFileSync(file, stringify({ ...numbers, targets: named }), { mode: 0o600 });
    const run = async (slot: number, ...words: ReadonlyArray<string>): Promise<void> => {
      const running = cluster.custody(slot, "promote", ...words);
      const code = await running.ended();
      if (code !== 0 || !running.stdout.includes("done"))
        this.#broken(
          "L6",
          `custody promote ${words.join(" ")}, at peer ${slot}`,
          `it ended with ${code}: ${running.text}`,
        );
    };
    await run(SOURCE, "--config", file, "--wait");
    for (const { slot } of cluster.peers) await run(slot, "status", "--wait");
  }

  #broken(id: string, rule: string, what: string): void {
    this.#options.broken(new Violation(id, rule, what));
  }
}
