/** The report of a chaos run at its end. */
import { Census } from "../../sim/base/Census.ts";
import type { FaultKind } from "./Plan.ts";
import type { KeysSeen, RunReport } from "./Run.ts";

type Counts = ReadonlyArray<readonly [string, number]>;

export interface Summary {
  readonly seed: number;
  readonly minutes: number;
  readonly clusters: ReadonlyArray<number>;
  /** Faults that happened, by kind. */
  readonly injected: Counts;
  /** Faults that found their peer down already, or that nothing triggered in time. */
  readonly missed: Counts;
  /** Kinds that cannot be done on this machine: how many were planned, and which tool is missing. */
  readonly impossible: ReadonlyArray<{ readonly kind: FaultKind; readonly planned: number; readonly why: string }>;
  readonly connectionsReset: number;
  readonly answers: Counts;
  readonly approvers: number;
  /** Of the approvers, those that are passkeys. */
  readonly passkeys: number;
  readonly sessions: number;
  readonly transactions: number;
  readonly keys: KeysSeen;
  readonly backups: { readonly asked: number; readonly accepted: number; readonly refused: number };
  /** A line for each process that lived for long enough. */
  readonly memory: ReadonlyArray<string>;
  readonly checked: ReadonlyArray<string>;
  readonly violation: { readonly id: string; readonly facts: readonly [string, string] } | undefined;
  /** Where databases and logs lie, if they were kept. */
  readonly kept: string | undefined;
}

const joined = (all: ReadonlyArray<Counts>): Counts => {
  const census = new Census();
  for (const each of all) census.addAll(each);
  return census.entries();
};

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, each) => total + each, 0);

const backupsOf = (reports: ReadonlyArray<RunReport>): Summary["backups"] => {
  const of = (part: 0 | 1 | 2): number => sum(reports.map(({ backups }) => backups[part]));
  return { asked: of(0), accepted: of(1), refused: of(2) };
};

const keysOf = (reports: ReadonlyArray<RunReport>): KeysSeen => {
  const of = (part: keyof KeysSeen): number => sum(reports.map(({ keys }) => keys[part]));
  return {
    usable: of("usable"),
    lost: of("lost"),
    repaired: of("repaired"),
    signatures: of("signatures"),
    secrets: of("secrets"),
    shares: of("shares"),
    looked: of("looked"),
  };
};

/** Joins the reports of the clusters of one run. */
export const summaryOf = (
  reports: ReadonlyArray<RunReport>,
  { seed, minutes, impossible, kept }: Pick<Summary, "seed" | "minutes" | "impossible" | "kept">,
): Summary => {
  const violation = reports.find((report) => report.violation !== undefined)?.violation;
  return {
    seed,
    minutes,
    clusters: reports.map(({ peers }) => peers),
    injected: joined(reports.map(({ injected }) => injected)),
    missed: joined(reports.map(({ missed }) => missed)),
    impossible,
    connectionsReset: sum(reports.map(({ resets }) => resets)),
    answers: joined(reports.map(({ answers }) => answers)),
    approvers: sum(reports.map(({ approvers }) => approvers)),
    passkeys: sum(reports.map(({ passkeys }) => passkeys)),
    sessions: sum(reports.map(({ sessions }) => sessions)),
    transactions: sum(reports.map(({ transactions }) => transactions)),
    backups: backupsOf(reports),
    keys: keysOf(reports),
    memory: reports.flatMap(({ memory }) => memory),
    checked: [...new Set(reports.flatMap(({ checked }) => checked))],
    violation: violation && { id: violation.id, facts: violation.facts },
    kept,
  };
};

const total = (counts: Counts): number => sum(counts.map(([, count]) => count));

const list = (counts: Counts): string => counts.map(([name, count]) => `${name} ${count}`).join(", ");

/** The summary in lines for people; the last one is the verdict. */
export const summaryLines = (summary: Summary): ReadonlyArray<string> => {
  const { seed, injected, missed, impossible, answers, backups, keys, checked, memory, violation, kept } = summary;
  return [
    "",
    `${total(injected)} faults injected: ${list(injected)}`,
    ...(missed.length === 0 ? [] : [`${total(missed)} met nobody: ${list(missed)}`]),
    ...impossible.map(({ kind, planned, why }) => `not possible here: ${kind} (${planned} planned): ${why}`),
    `${summary.connectionsReset} connections reset`,
    `${total(answers)} requests answered or given up: ${list(answers)}`,
    `${summary.approvers} approvers, ${summary.passkeys} of them passkeys, and ${summary.sessions} enrollment sessions in ${summary.transactions} durable transactions`,
    `${keys.usable} keys in use at the end, ${keys.lost} lost with old disks, ${keys.repaired} shares repaired then; ${keys.signatures} signatures verified by OpenSSL and a plain BIP 340`,
    `${keys.secrets} secrets of keys in no box and ${keys.shares} boxes looked for in ${Math.round(keys.looked / 2 ** 20)} MiB`,
    `${backups.asked} backups asked for, ${backups.accepted} accepted as whole, ${backups.refused} refused as not whole`,
    ...(memory.length === 0
      ? ["memory not judged: no process lived for long enough"]
      : memory.map((line) => `memory: ${line}`)),
    `${checked.length} invariants checked: ${checked.join(" ")}`,
    ...(violation === undefined
      ? [`chaos: green, seed ${seed}, clusters of ${summary.clusters.join(" and ")}`]
      : [
          `chaos: VIOLATED ${violation.id}, seed ${seed}`,
          `  ${violation.facts[0]}`,
          `  ${violation.facts[1]}`,
          ...(kept === undefined ? [] : [`  databases, journals and logs: ${kept}`]),
        ]),
  ];
};
