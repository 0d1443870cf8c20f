/** One cluster under one plan: callers and faults for a while, then healing, quiet, and the verdict. */
import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TableName } from "../../core/Tables.ts";
import { cryptoBackend } from "../../server/crypto/CryptoBackend.ts";
import { Violation } from "../../sim/base/Violation.ts";
import { audit, type PeerEvidence, type Verdict } from "./Audit.ts";
import { ApproversAtEnd } from "./ApproversAtEnd.ts";
import { Callers } from "./Callers.ts";
import { ChaosCluster } from "./ChaosCluster.ts";
import { makeEstate, needsExpiry } from "./Estate.ts";
import { Faults } from "./Faults.ts";
import { readFinalStore } from "./FinalStore.ts";
import type { Moment } from "./History.ts";
import { readJournal } from "./Journal.ts";
import { KeyCallers } from "./KeyCallers.ts";
import { judgeRemains, type KeyVerdict, type PeerRemains } from "./KeyRemains.ts";
import { KeysAtEnd, type KeysLeft } from "./KeysAtEnd.ts";
import { memoryFault, memoryLine, readMemory } from "./Memory.ts";
import type { PlannedFault } from "./Plan.ts";
import type { Plant } from "./Plants.ts";
import type { Tools } from "./Probe.ts";
import { PromotionUnderFaults } from "./PromotionUnderFaults.ts";
import { assertWholeBackup, readBackup } from "./WholeBackup.ts";

/** Within this, all are back, and everything that was under way is finished. */
const QUIET_MILLIS = 120_000;
const POLL_MILLIS = 200;
/** A promotion leaves at least this share of the time for the faults after it. */
const LEAST_SHARE = 1 / 3;
/** How long enrollment sessions last: short, so that invitations expire in holders' hands, and make room. */
const SESSION_MILLIS = 20_000;
/** The same where many are open before a promotion, which must still be so at its end. */
const LONG_SESSION_MILLIS = 600_000;
/** And where they are more than may be open at one time. */
const PASSING_SESSION_MILLIS = 45_000;
/** Callers that fill a registry, at once. */
const FILLING = 64;
/** One caller with keys for so many others. */
const HOLDERS_PER_CALLER = 4;
/** Judged beside what the audit judges. */
const ofKeys = ["K5", "LK1", "LK2", "LK3", "LK4"];

type Counts = ReadonlyArray<readonly [string, number]>;

export interface RunOptions {
  readonly seed: number;
  readonly peers: number;
  /** Whether the first peer is an instance alone, which is then promoted to a cluster with the others. */
  readonly isAlone: boolean;
  readonly millis: number;
  readonly callers: number;
  readonly rows: number;
  readonly tls: boolean;
  /** Whether peers say the secrets of keys aloud. */
  readonly isLeaking: boolean;
  /** What peers do wrong, for a judge that must find it. */
  readonly planted: Plant | undefined;
  readonly plan: ReadonlyArray<PlannedFault>;
  readonly tools: Tools;
  /** A new folder for everything this cluster writes. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

/** How many rows of a kind are there at the end. */
interface Stored {
  readonly approvers: number;
  readonly passkeys: number;
  readonly sessions: number;
}

/** What there was of keys. */
export interface KeysSeen extends KeysLeft, Omit<KeyVerdict, "violation"> {
  readonly signatures: number;
}

interface Judged extends Verdict, Stored {
  readonly keys: Omit<KeyVerdict, "violation">;
}

export interface RunReport extends Verdict, Stored {
  readonly keys: KeysSeen;
  readonly peers: number;
  readonly injected: Counts;
  readonly missed: Counts;
  readonly answers: Counts;
  readonly resets: number;
  /** Backups that were asked for, accepted as whole, and refused as not whole when they were verified. */
  readonly backups: readonly [asked: number, accepted: number, refused: number];
  /** A line for each process that lived for long enough. */
  readonly memory: ReadonlyArray<string>;
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

/** Lines of every log of these folders. */
async function* logLines(folders: ReadonlyArray<string>): AsyncGenerator<string> {
  for (const folder of folders)
    for (const name of readdirSync(folder).filter((each) => each.startsWith("peer.log")))
      yield* createInterface({ input: createReadStream(join(folder, name)), crlfDelay: Number.POSITIVE_INFINITY });
}

class Run {
  readonly #options: RunOptions;
  readonly #moments: Array<Moment> = [];
  readonly #memory: Array<string> = [];
  #broken: Violation | undefined;
  /** Peers were told to stop: the code that told them checks how they end. */
  #isOver = false;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  get #sessionMillis(): number {
    const { isAlone, rows } = this.#options;
    if (!isAlone || rows === 0) return SESSION_MILLIS;
    return needsExpiry(rows) ? PASSING_SESSION_MILLIS : LONG_SESSION_MILLIS;
  }

  async run(): Promise<RunReport> {
    const { folder, isAlone, isLeaking, peers, planted, rows, seed, say, tls, tools, callers: count } = this.#options;
    const broken = (violation: Violation): void => {
      if (this.#isOver || this.#broken !== undefined) return;
      this.#broken = violation;
      // At once: a disk that could not be made again cannot be judged at the end.
      say(`broken, and stopped: ${violation.message}`);
    };
    const note = (moment: Moment): void => void this.#moments.push(moment);
    say(isAlone ? "starting a peer that is alone" : `starting ${peers} peers`);
    const cluster = await ChaosCluster.start({
      folder,
      peers,
      seed,
      isAlone,
      tls,
      isLeaking,
      planted,
      sessionMillis: this.#sessionMillis,
      note,
      broken,
    });
    const { ca, tokens, urls } = cluster;
    const callers = new Callers({ seed, urls, ca, count, tokens, note, broken });
    const { commands } = callers;
    const holders = Math.ceil(count / HOLDERS_PER_CALLER);
    const keys = new KeyCallers({ seed, urls, ca, count: holders, tokens, commands, note, broken });
    const quiet = (): Promise<Violation | undefined> => this.#quiet(cluster);
    const keysAtEnd = new KeysAtEnd({ cluster, keys, quiet });
    const faults = new Faults({ cluster, tools, callers, broken });
    const isBroken = (): boolean => this.#broken !== undefined;
    const promotion = new PromotionUnderFaults({ seed, cluster, tools, callers, broken, isBroken, say });
    try {
      if (rows > 0) say(`registering ${rows} approvers`);
      const estate = isAlone ? await makeEstate(callers, rows) : undefined;
      if (!isAlone) await callers.fill(rows, FILLING);
      for (const each of [callers, keys]) each.start();
      const began = performance.now();
      if (estate !== undefined) await promotion.run(estate);
      await this.#abuse([callers, keys], faults, began);
      say("healing, then asking for everything once more, also with as many peers killed as may be");
      const unquiet =
        this.#broken ??
        (await this.#heal(cluster)) ??
        (await new ApproversAtEnd({ cluster, callers, quiet }).judge()) ??
        (await keysAtEnd.judge());
      this.#isOver = true;
      const verdict = await this.#judge(cluster, callers, this.#broken ?? unquiet);
      const [signatures] = keys.signatures;
      return {
        ...verdict,
        peers,
        injected: [...promotion.injected, ...faults.injected.entries()],
        missed: [...promotion.missed, ...faults.missed.entries()],
        answers: [...callers.answers.entries(), ...keys.answers.entries()],
        resets: Math.round(cluster.resets),
        backups: [cluster.backups.asked, cluster.backups.accepted.length, cluster.backups.refused],
        memory: this.#memory,
        keys: { ...verdict.keys, ...keysAtEnd.left, signatures },
      };
    } finally {
      this.#isOver = true;
      await Promise.all([callers.stop(), keys.stop()]);
      await cluster.kill();
    }
  }

  /** Callers and faults, until the time since they began is over or a peer has broken. */
  async #abuse(callers: ReadonlyArray<Callers | KeyCallers>, faults: Faults, began: number): Promise<void> {
    const { millis, plan } = this.#options;
    const doing = faults.run(plan);
    const until = Math.max(began + millis, performance.now() + millis * LEAST_SHARE);
    while (performance.now() < until && this.#broken === undefined) await pause(POLL_MILLIS);
    faults.stop();
    await doing;
    await Promise.all(callers.map((each) => each.stop()));
  }

  /** Stops every fault and waits until nothing is under way anywhere; returns why that failed. */
  async #heal(cluster: ChaosCluster): Promise<Violation | undefined> {
    cluster.calm();
    for (const peer of cluster.peers) {
      peer.resume();
      // No restart and no unsealing: once its clock is right again, so is the peer.
      if (peer.isUp) peer.moveClock(0);
      peer.start();
    }
    return this.#quiet(cluster);
  }

  async #quiet(cluster: ChaosCluster): Promise<Violation | undefined> {
    const until = performance.now() + QUIET_MILLIS;
    for (;;) {
      const unrest = await this.#unrest(cluster);
      if (unrest === undefined || this.#broken !== undefined) return this.#broken;
      if (performance.now() > until) return unrest;
      await pause(POLL_MILLIS);
    }
  }

  /** Why a peer that is not at rest is not. Each is tended, whatever ails those before it: they may be waiting for it. */
  async #unrest(cluster: ChaosCluster): Promise<Violation | undefined> {
    const found: Array<Violation> = [];
    for (const { slot } of cluster.peers) {
      const unrest = await this.#unrestOf(cluster, slot);
      if (unrest !== undefined) found.push(unrest);
    }
    return found.find(({ id }) => id === "L5") ?? found[0];
  }

  /** Unseals a peer and declares its restore where that is what it lacks; why it is not at rest. */
  async #unrestOf(cluster: ChaosCluster, slot: number): Promise<Violation | undefined> {
    const healed = "everything was healed";
    if (cluster.isUndeclared(slot) && !(await cluster.declare(slot)))
      return new Violation("L5", healed, `peer ${slot} cannot be told that it was restored`);
    const status = await cluster.status(slot);
    if (status?.state !== "UNSEALED" || status.detail === undefined) {
      if (status?.state === "SEALED") await cluster.unseal(slot);
      return new Violation("L5", healed, `peer ${slot} is ${status?.state ?? "silent"}`);
    }
    const { quarantine, identityKey: _, ...counts } = status.detail;
    if (quarantine !== undefined) {
      await cluster.ask(slot, "restore", {});
      return new Violation("L5", healed, `peer ${slot} is in quarantine: ${quarantine}`);
    }
    for (const [what, count] of Object.entries(counts))
      if (count > 0) return new Violation("L2", healed, `peer ${slot} still has: ${what} ${count}`);
    const { status: ready, text } = await cluster.ask(slot, "ready");
    return ready === 200 ? undefined : new Violation("L4", healed, `peer ${slot} is not ready: ${text}`);
  }

  /** Stops the peers in order, and judges what they leave behind. A violation found before keeps its place. */
  async #judge(cluster: ChaosCluster, callers: Callers, found: Violation | undefined): Promise<Judged> {
    const { say } = this.#options;
    const unsealed = new Set<number>();
    for (const { slot } of cluster.peers) if ((await cluster.status(slot))?.state === "UNSEALED") unsealed.add(slot);
    const ended = await Promise.all(
      cluster.peers.map(async (peer) => ({ slot: peer.slot, isWell: await peer.terminate() })),
    );
    const unwell = ended.find(({ isWell }) => !isWell);
    const untidy = unwell && new Violation("EXIT", `peer ${unwell.slot} was told to close`, "it did not, or not well");
    say("judging");
    const backend = cryptoBackend("native");
    const peers: Array<PeerEvidence> = [];
    const remains: Array<PeerRemains> = [];
    for (const { slot, chaosFolder, replaced } of cluster.peers) {
      const final = await readFinalStore(cluster.dataOf(slot), backend, await cluster.shares(slot));
      const transactions = readJournal(chaosFolder, final.transactions, replaced);
      peers.push({ slot, transactions, final, unsealed: unsealed.has(slot) });
      remains.push({ slot, chaosFolder, directory: cluster.dataOf(slot), final });
    }
    const other =
      (await this.#backupFault(cluster, peers)) ??
      this.#memoryFault(cluster, peers[0]?.final.tables.get("approvers")?.size ?? 0);
    const { violation: leak, ...keys } = judgeRemains(backend.crypto, remains, {
      folder: this.#options.folder,
      answers: this.#moments.flatMap((moment) => ("body" in moment ? [moment.body] : [])),
    });
    const lines: Array<string> = [];
    for await (const line of logLines(cluster.peers.map(({ slot }) => cluster.folder.peer(slot).folder)))
      lines.push(line);
    const { commands } = callers;
    const verdict = audit({
      crypto: backend.crypto,
      peers,
      moments: this.#moments,
      said: {
        keyOf: commands.keyOf,
        byRequest: (kind, request) => commands.byRequest(kind, request),
        byBody: (bodyDigest) => commands.byBody(bodyDigest),
        finishOf: (bodyDigest) => commands.finishOf(bodyDigest),
        inviteOf: (bodyDigest) => commands.inviteOf(bodyDigest),
        replacementOf: (path, bodyDigest, ifMatch) => commands.replacementOf(path, bodyDigest, ifMatch),
        tokenOf: (jti) => cluster.tokens.tokenOf(jti),
      },
      sessionMillis: this.#sessionMillis,
      secrets: await cluster.secrets(),
      invitations: callers.invitations,
      logLines: lines,
    });
    const rows = (table: TableName): number => peers[0]?.final.tables.get(table)?.size ?? 0;
    const stored = { approvers: rows("approvers"), passkeys: rows("credentials"), sessions: rows("sessions") };
    // A safety violation is named first, then a late answer, and last a cluster stopped on the way to its rest.
    const isSafety = /^[SK]/.test(verdict.violation?.id ?? "");
    return {
      ...verdict,
      checked: [...verdict.checked, ...ofKeys],
      ...stored,
      keys,
      violation: leak ?? (isSafety ? verdict.violation : (found ?? untidy ?? other ?? verdict.violation)),
    };
  }

  /** Each backup that was accepted is what its peer had, and nothing of unfinished ones is left where peers store. */
  async #backupFault(cluster: ChaosCluster, peers: ReadonlyArray<PeerEvidence>): Promise<Violation | undefined> {
    for (const backup of cluster.backups.accepted)
      try {
        const { transactions } = peers[backup.slot - 1] ?? { transactions: [] };
        assertWholeBackup(backup, await readBackup(backup), transactions);
      } catch (thrown) {
        if (thrown instanceof Violation) return thrown;
        throw thrown;
      }
    for (const { slot } of cluster.peers) {
      const left = readdirSync(cluster.dataOf(slot)).find((name) => /^custody\.(backup|db\.restoring)/.test(name));
      if (left !== undefined)
        return new Violation("BACKUP", `peer ${slot} was stopped, and no backup was under way`, `it left ${left}`);
    }
    return undefined;
  }

  #memoryFault(cluster: ChaosCluster, approvers: number): Violation | undefined {
    let found: Violation | undefined;
    for (const { slot, chaosFolder } of cluster.peers)
      for (const [process, course] of readMemory(chaosFolder)) {
        this.#memory.push(`peer ${slot} of ${cluster.peers.length}, process ${process}: ${memoryLine(course)}`);
        const fault = memoryFault(course, approvers);
        if (fault !== undefined) found ??= new Violation("MEMORY", `peer ${slot}, process ${process}`, fault);
      }
    return found;
  }
}

/** Runs one cluster from its start to its verdict; its processes are gone afterwards, whatever happens. */
export const runCluster = (options: RunOptions): Promise<RunReport> => new Run(options).run();
