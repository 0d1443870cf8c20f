/**
 * Backups of peers by the product's own command, while anything may happen to both. Whatever `custody backup verify`
 * accepts is kept, to be held against what the peer really stored (WholeBackup.ts).
 */
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Either, Schema } from "effect";
import { Violation } from "../../sim/base/Violation.ts";
import type { Running } from "../cli/Running.ts";
import type { BackupWay } from "./BackupWays.ts";
import { microsNow } from "./History.ts";

/** However slow its peer was made, and whatever is done to that. */
const ENDING_MILLIS = 90_000;

/** Refusals that a command may end with only where its way makes them true. */
const onlyIf: Readonly<Record<string, BackupWay | "never">> = {
  INTEGRITY_FAILURE: "never",
  INTERNAL_ERROR: "copy fails",
  NO_SPACE: "copy finds the disk full",
};

const Failure = Schema.parseJson(
  Schema.Struct({
    error: Schema.Struct({
      kind: Schema.String,
      message: Schema.String,
      problem: Schema.optional(Schema.Struct({ code: Schema.String })),
    }),
  }),
);

const Facts = Schema.parseJson(Schema.Struct({ peerId: Schema.Number, transactions: Schema.Number }));

export interface Ended {
  /** The exit code, or the signal that ended it. */
  readonly how: number | NodeJS.Signals | null;
  readonly stderr: string;
}

/**
 * What is wrong with how `custody backup --json` ended; undefined where nothing is.
 *
 * @param isThere whether the file that it was to make is there
 */
export const endFault = ({ how, stderr }: Ended, way: BackupWay, isThere: boolean): string | undefined => {
  if (how === 0) return isThere ? undefined : "it ended with 0 and made no file";
  if (how === "SIGKILL" && way === "reader killed") return undefined;
  if (isThere) return `it ended with ${how}, and its file is there`;
  const failure = Schema.decodeEither(Failure)(stderr);
  if (typeof how !== "number" || Either.isLeft(failure)) return `it ended with ${how}: ${stderr}`;
  const { kind, message, problem } = failure.right.error;
  if (how === 2 && kind === "usage" && way === "reader's disk full") return undefined;
  if (how !== 1 && how !== 3) return `it ended with ${how}: ${message}`;
  if (how === 3) return undefined;
  if (problem === undefined) return `its peer sent it what is no whole backup: ${message}`;
  const only = onlyIf[problem.code];
  return only === undefined || only === way ? undefined : `it was refused with ${problem.code}: ${message}`;
};

/** A backup that was accepted as whole. */
export interface AcceptedBackup {
  readonly slot: number;
  readonly file: string;
  /** The number of the last transaction in it, as it says. */
  readonly transactions: number;
  /** When it was asked for, in microseconds. */
  readonly from: number;
  /** The first and the last process of the peer that may have made it. */
  readonly processes: readonly [first: number, last: number];
}

/** A command that makes a backup, while it runs. */
export interface UnderWay {
  readonly command: Running;
  /** How many bytes it has received. */
  readonly received: () => number;
  readonly isOver: () => boolean;
}

export interface BackupsOptions {
  /** A folder for the files. */
  readonly folder: string;
  /** Runs a command of an operator at a peer. */
  readonly custody: (slot: number, ...words: ReadonlyArray<string>) => Running;
  /** How many processes a peer has had. */
  readonly processes: (slot: number) => number;
  readonly broken: (violation: Violation) => void;
}

/** What an unfinished command for a file has left. */
const partsOf = (file: string): ReadonlyArray<string> => {
  const begin = `.${basename(file)}.`;
  const names = readdirSync(dirname(file)).filter((name) => name.startsWith(begin) && name.endsWith(".part"));
  return names.map((name) => join(dirname(file), name));
};

export class Backups {
  readonly #options: BackupsOptions;
  readonly #accepted: Array<AcceptedBackup> = [];
  readonly #busy = new Set<number>();
  #asked = 0;
  /** Files that commands have left, and that were refused when they were verified. */
  refused = 0;

  constructor(options: BackupsOptions) {
    this.#options = options;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  }

  get asked(): number {
    return this.#asked;
  }

  get accepted(): ReadonlyArray<AcceptedBackup> {
    return this.#accepted;
  }

  of(slot: number): ReadonlyArray<AcceptedBackup> {
    return this.#accepted.filter((each) => each.slot === slot);
  }

  /** Whether a backup of a peer is under way. */
  isBusy(slot: number): boolean {
    return this.#busy.has(slot);
  }

  /**
   * Takes a backup.
   *
   * @param disturb does to the command and its peer what belongs to the way
   * @returns it, if one was accepted
   */
  async take(
    slot: number,
    way: BackupWay,
    disturb: (underWay: UnderWay) => Promise<void> = async () => undefined,
  ): Promise<AcceptedBackup | undefined> {
    if (this.isBusy(slot)) return undefined;
    this.#busy.add(slot);
    try {
      return await this.#take(slot, way, disturb);
    } finally {
      this.#busy.delete(slot);
    }
  }

  async #take(
    slot: number,
    way: BackupWay,
    disturb: (underWay: UnderWay) => Promise<void>,
  ): Promise<AcceptedBackup | undefined> {
    const { broken, custody, folder, processes } = this.#options;
    const file = join(folder, `peer-${slot}-${(this.#asked += 1)}.tar`);
    const [from, first] = [microsNow(), processes(slot)];
    const command = custody(slot, "backup", "--to", file, "--json");
    const patience = setTimeout(() => command.signal("SIGABRT"), ENDING_MILLIS);
    let isOver = false;
    const ended = command.ended().finally(() => {
      isOver = true;
      clearTimeout(patience);
    });
    const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    const received = (): number => partsOf(file).reduce((sum, part) => sum + sizeOf(part), 0);
    const [how] = await Promise.all([ended, disturb({ command, received, isOver: () => isOver })]);
    const fault = endFault({ how, stderr: command.stderr }, way, existsSync(file));
    if (fault !== undefined) broken(new Violation("BACKUP", `a backup of peer ${slot} was asked for (${way})`, fault));
    const parts = partsOf(file);
    if (parts.length > 0 && how !== "SIGKILL")
      broken(new Violation("BACKUP", `custody backup ended with ${how}`, `it left ${parts.join(" ")}`));
    const request = { slot, from, processes: [first, processes(slot)] } as const;
    for (const part of parts) await this.#verify(part, request);
    if (!existsSync(file)) return undefined;
    const made = await this.#verify(file, request);
    if (made === undefined)
      broken(new Violation("BACKUP", `custody backup has made ${file}`, "custody backup verify does not accept it"));
    return made;
  }

  /** Judges a file by the command for it; the backup, if it is accepted. */
  async #verify(
    file: string,
    request: Pick<AcceptedBackup, "slot" | "from" | "processes">,
  ): Promise<AcceptedBackup | undefined> {
    const { broken, custody } = this.#options;
    const { slot } = request;
    const command = custody(slot, "backup", "verify", "--json", file);
    const how = await command.ended();
    if (how === 1) {
      this.refused += 1;
      return undefined;
    }
    const facts = Schema.decodeEither(Facts)(command.stdout);
    if (how !== 0 || Either.isLeft(facts) || facts.right.peerId !== slot) {
      const said = `it ended with ${how}: ${command.stdout}${command.stderr}`;
      broken(new Violation("BACKUP", `a backup of peer ${slot} was verified: ${file}`, said));
      return undefined;
    }
    const accepted = { ...request, file, transactions: facts.right.transactions };
    this.#accepted.push(accepted);
    return accepted;
  }
}
