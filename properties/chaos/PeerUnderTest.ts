/** One real peer of a chaos run, over all its processes: started, killed, stopped in its tracks, and watched. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { TableName } from "../../core/Tables.ts";
import type { DevFolder } from "../../server/dev/DevFolder.ts";
import { peerCommand } from "../../server/dev/PeerCommand.ts";
import { lastLogLines } from "../../server/dev/PeerProcess.ts";
import { surroundings } from "../cli/Running.ts";
import { FIRST_PARTY } from "../../sim/crypto/SimRelyingParty.ts";
import { Violation } from "../../sim/base/Violation.ts";
import { microsNow, type Moment } from "./History.ts";
import type { Replaced } from "./Journal.ts";
import { keepInMind } from "./Children.ts";
import type { FaultPortFiles } from "./FaultPortBuild.ts";
import { isPlantedAt, type Plant, plants } from "./Plants.ts";
import {
  clockFile,
  copiedFile,
  copyFile,
  type CopyOrder,
  doneFile,
  flushFile,
  journalProcess,
  reachedFile,
  secretsProcess,
  type StepEnd,
  stepFile,
} from "./PortFiles.ts";

/** EX_SOFTWARE: the exit code of a peer that must not go on. */
const HALTED = 70;
/** A peer that has to end by itself does so well within this. */
const ENDING_MILLIS = 30_000;
const POLL_MILLIS = 20;

/** A table, and how the process ends at the next transaction that changes it. */
export interface StepOrder {
  readonly table: TableName;
  readonly how: StepEnd;
}

/** A failing flush ends the process with a certain code. */
const endOf = ({ how }: StepOrder): "halted" | "any" => (how === "before" || how === "after" ? "any" : "halted");

const quoted = (path: string): string => `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

export interface PeerOptions {
  readonly slot: number;
  readonly entry: string;
  readonly folder: DevFolder;
  /** The fault port as plain JavaScript, which comes before the product's own code in every thread. */
  readonly faultPort: FaultPortFiles;
  /** Whether it says its secrets aloud, for a search that must find them. */
  readonly isLeaking: boolean;
  /** What it may do wrong, for a judge that must find it. */
  readonly planted: Plant | undefined;
  /** How long enrollment sessions last. */
  readonly sessionMillis: number;
  /** The addresses of the others: `ID=URL` for each, through wires of ours. */
  readonly peers: string;
  readonly note: (moment: Moment) => void;
  /** Called when a process ends unexpectedly. */
  readonly broken: (violation: Violation) => void;
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

/** Whether Linux shows the process as stopped; elsewhere the signal itself must do. */
const isStopped = (pid: number): boolean => {
  if (process.platform !== "linux") return true;
  try {
    return / T \d/.test(readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^\d+ \(.*\)/, ""));
  } catch {
    return false;
  }
};

const sqliteClient = createRequire(import.meta.url).resolve("@effect/sql-sqlite-node");

export class PeerUnderTest {
  readonly slot: number;
  /** Journals of its processes, and the files by which faults are ordered. */
  readonly chaosFolder: string;
  readonly #options: PeerOptions;
  #child: ChildProcess | undefined;
  #processes = 0;
  readonly #replaced: Array<Replaced> = [];
  /** The process that runs is expected to end: why and how it ends is no surprise. */
  #mayEnd: "no" | "halted" | "any" = "no";
  #isPaused = false;
  /** The fault under way; faults that need all of the peer leave it alone meanwhile. */
  isTaken = false;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.slot = options.slot;
    this.chaosFolder = join(options.folder.peer(options.slot).folder, "chaos");
    mkdirSync(this.chaosFolder, { recursive: true, mode: 0o700 });
  }

  get isUp(): boolean {
    return this.#child !== undefined;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How many processes it has had, the one that runs included. */
  get processes(): number {
    return this.#processes;
  }

  /** The databases that were replaced by older ones, in order. */
  get replaced(): ReadonlyArray<Replaced> {
    return this.#replaced;
  }

  /**
   * Its database is another one from now on.
   *
   * @param newest the number of the last transaction of the one that is gone
   * @param transactions that of the one which is there now
   */
  putBack(newest: number, transactions: number, how: "declared" | "found out"): void {
    this.#replaced.push({ process: this.#processes, newest });
    this.#options.note({ _tag: "PutBack", at: microsNow(), slot: this.slot, transactions, how });
  }

  /** The last lines it wrote. */
  lastWords(count: number): ReadonlyArray<string> {
    return lastLogLines(this.#options.folder.peer(this.slot), count);
  }

  /**
   * Starts its next process, without a fault in it.
   *
   * @param preload a library that moves its clock, and by what
   * @param step a step at which it is to end
   */
  start(preload?: { readonly library: string; readonly offsetMillis: number }, step?: StepOrder): void {
    if (this.#child !== undefined) return;
    const { entry, faultPort, folder, isLeaking, note, peers, planted, sessionMillis, slot } = this.#options;
    this.disarmFlush();
    this.disarmCopy();
    if (step === undefined) this.disarmStep();
    else this.armStep(step.table, step.how);
    rmSync(join(this.chaosFolder, clockFile), { force: true });
    this.#processes += 1;
    const [program, ...args] = peerCommand(entry, folder, slot);
    const seconds = ((preload?.offsetMillis ?? 0) / 1000).toFixed(3);
    const moved =
      preload === undefined
        ? {}
        : {
            LD_PRELOAD: preload.library,
            FAKETIME: preload.offsetMillis < 0 ? seconds : `+${seconds}`,
            DONT_FAKE_MONOTONIC: "1",
          };
    const output = openSync(folder.peer(slot).log, "a", 0o600);
    note({ _tag: "Up", at: microsNow(), slot });
    const child = spawn(program, args, {
      cwd: folder.peer(slot).folder,
      env: {
        ...surroundings(),
        ...moved,
        NODE_OPTIONS: `--require ${quoted(faultPort.entry)}`,
        CUSTODY_CLUSTER_PEERS: peers,
        CUSTODY_WEBAUTHN_ORIGINS: FIRST_PARTY.origin,
        CUSTODY_WEBAUTHN_REGISTRATION_TTL: `${sessionMillis}ms`,
        CHAOS_DIR: this.chaosFolder,
        CHAOS_PROCESS: String(this.#processes),
        CHAOS_PARENT: String(process.pid),
        CHAOS_SQLITE_CLIENT: sqliteClient,
        CHAOS_SECRET_HOOK: faultPort.secretHook,
        ...(isLeaking && { CHAOS_LEAK: "yes" }),
        ...(planted !== undefined && isPlantedAt(planted, slot) && { CHAOS_PLANT: JSON.stringify(plants[planted]) }),
      },
      stdio: ["ignore", output, output],
    });
    closeSync(output);
    this.#child = child;
    keepInMind(child);
    this.#mayEnd = step === undefined ? "no" : endOf(step);
    child.once("error", (fault) => this.#ended(child, fault.message));
    child.once("exit", (code, signal) => this.#ended(child, code ?? signal ?? "unknown"));
  }

  #ended(child: ChildProcess, how: number | string): void {
    if (this.#child !== child) return;
    const { broken, note, slot } = this.#options;
    this.#child = undefined;
    this.#isPaused = false;
    note({ _tag: "Down", at: microsNow(), slot });
    if (this.#mayEnd === "any" || (this.#mayEnd === "halted" && how === HALTED)) return;
    const wanted = this.#mayEnd === "no" ? "nothing was done to it that ends a peer" : `it had to end with ${HALTED}`;
    const words = this.lastWords(5).join("\n    ");
    broken(new Violation("EXIT", `peer ${slot}: ${wanted}`, `it ended with ${how}; its last words:\n    ${words}`));
  }

  async #gone(millis: number): Promise<boolean> {
    for (const until = microsNow() + millis * 1000; this.#child !== undefined; await pause(POLL_MILLIS))
      if (microsNow() > until) return false;
    return true;
  }

  /** SIGKILL; resolves when the process is gone. */
  async kill(): Promise<void> {
    this.#mayEnd = "any";
    this.#child?.kill("SIGKILL");
    await this.#gone(ENDING_MILLIS);
  }

  /** SIGTERM; it must close in order. Resolves with false where it had to be killed. */
  async terminate(): Promise<boolean> {
    const child = this.#child;
    if (child === undefined) return true;
    this.#mayEnd = "any";
    child.kill("SIGTERM");
    const inTime = await this.#gone(ENDING_MILLIS);
    if (!inTime) await this.kill();
    return inTime && child.exitCode === 0;
  }

  /** SIGSTOP; resolves when the process stands still. */
  async pause(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.kill("SIGSTOP");
    this.#isPaused = true;
    for (const until = microsNow() + 1_000_000; this.#child === child && microsNow() < until; await pause(1))
      if (isStopped(child.pid)) return this.#options.note({ _tag: "Down", at: microsNow(), slot: this.slot });
  }

  resume(): void {
    if (!this.#isPaused || this.#child === undefined) return;
    this.#isPaused = false;
    this.#options.note({ _tag: "Up", at: microsNow(), slot: this.slot });
    this.#child.kill("SIGCONT");
  }

  /** Its next flush fails, with the bytes `lost` or `kept`. */
  armFlush(how: "lost" | "kept"): void {
    this.#mayEnd = "halted";
    rmSync(join(this.chaosFolder, doneFile), { force: true });
    writeFileSync(join(this.chaosFolder, flushFile), how);
  }

  /** It ends at the next transaction that changes this table. */
  armStep(table: TableName, how: StepEnd): void {
    this.#mayEnd = endOf({ table, how });
    rmSync(join(this.chaosFolder, reachedFile), { force: true });
    writeFileSync(join(this.chaosFolder, stepFile), `${table} ${how}`);
  }

  /** Whether the step at which it was to end has come. */
  get hasReachedStep(): boolean {
    return existsSync(join(this.chaosFolder, reachedFile));
  }

  disarmStep(): void {
    rmSync(join(this.chaosFolder, stepFile), { force: true });
  }

  /** Whether the flush that was to fail has failed. */
  get hasFailedFlush(): boolean {
    return existsSync(join(this.chaosFolder, doneFile));
  }

  disarmFlush(): void {
    rmSync(join(this.chaosFolder, flushFile), { force: true });
  }

  /** Its next copy of the database is as slow as a bad disk makes it, or fails in the middle. */
  armCopy(how: CopyOrder): void {
    rmSync(join(this.chaosFolder, copiedFile), { force: true });
    writeFileSync(join(this.chaosFolder, copyFile), how);
  }

  /** Whether the copy that was armed has begun. */
  get hasBegunCopy(): boolean {
    return existsSync(join(this.chaosFolder, copiedFile));
  }

  disarmCopy(): void {
    rmSync(join(this.chaosFolder, copyFile), { force: true });
  }

  /** Its next writes fail beyond so many bytes of a file, or sooner: `more` beyond the longest of those it writes. */
  limitFiles(prlimit: string, bytes: number, more: number): void {
    const { pid } = this;
    if (pid === undefined) return;
    const { folder, log } = this.#options.folder.peer(this.slot);
    const journals = readdirSync(this.chaosFolder).filter(
      (name) => (journalProcess(name) ?? secretsProcess(name)) === this.#processes,
    );
    const files = [
      join(folder, "data", "custody.db-wal"),
      log,
      ...journals.map((name) => join(this.chaosFolder, name)),
    ];
    const longest = Math.max(...files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0));
    const limit = Math.min(bytes, longest + more);
    this.#mayEnd = "halted";
    execFileSync(prlimit, ["--pid", String(pid), `--fsize=${limit}:unlimited`], { stdio: "ignore" });
  }

  unlimitFiles(prlimit: string): void {
    const { pid } = this;
    if (pid !== undefined)
      execFileSync(prlimit, ["--pid", String(pid), "--fsize=unlimited:unlimited"], { stdio: "ignore" });
  }

  /** No armed fault ends it any more. */
  mustLive(): void {
    if (this.#child !== undefined) this.#mayEnd = "no";
  }

  /** The wall clock that it sees is off by so much. */
  moveClock(offsetMillis: number): void {
    writeFileSync(join(this.chaosFolder, clockFile), String(offsetMillis));
  }

  /** Resolves with whether it ended by itself, in time. */
  async endsByItself(millis: number): Promise<boolean> {
    return this.#gone(millis);
  }
}
