/** `npm run chaos`: parses, runs each cluster, and ends with a verdict (docs/chaos.md). */
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Either } from "effect";
import { printLine } from "../../sim/bin/Script.ts";
import { CannotStart } from "./ClusterOptions.ts";
import { type ChaosOptions, helpText, parseOptions } from "./Options.ts";
import { killAll } from "./Children.ts";
import { drawPlan, type FaultKind, faultKinds, planLine } from "./Plan.ts";
import { stepsLine } from "./PromotionPlan.ts";
import { obstacle, probeTools } from "./Probe.ts";
import { runCluster, type RunReport } from "./Run.ts";
import { type Summary, summaryLines, summaryOf } from "./Summary.ts";

const GREEN = 0;
const VIOLATED = 1;
const MISUSED = 2;
const NOT_RUN = 3;
/** As a shell has it for SIGINT. */
const INTERRUPTED = 130;

/** Starting, healing and judging one cluster takes no longer than this on a slow machine; nor does a promotion. */
const AROUND_MILLIS = 600_000;

const complain = (line: string): void => void process.stderr.write(`${line}\n`);

type Impossible = Summary["impossible"];

const runAll = async (options: ChaosOptions, folder: string): Promise<number> => {
  const { seed, minutes, clusters, callers, rows, tls, isLeaking, planted, json } = options;
  const say = json ? complain : printLine;
  const tools = probeTools();
  const millis = (minutes * 60_000) / clusters.length;
  const plans = clusters.map(({ peers, isAlone }) => ({ peers, isAlone, plan: drawPlan(seed, peers, millis) }));
  say(`chaos: seed ${seed}, ${minutes} minutes`);
  for (const { peers, isAlone, plan } of plans) {
    const slots = Array.from({ length: isAlone ? peers : 0 }, (_, index) => index + 1);
    const promoting = slots.map((slot) => stepsLine(seed, slot));
    const name = isAlone ? `one peer, promoted to ${peers}` : `${peers} peers`;
    for (const line of [`${name}:`, ...promoting, ...plan.map(planLine)]) say(line);
  }
  if (options.planOnly) return GREEN;
  const planned = (kind: FaultKind): number =>
    plans.reduce((sum, { plan }) => sum + plan.filter((fault) => fault.kind === kind).length, 0);
  const impossible: Impossible = faultKinds.flatMap((kind) => {
    const why = obstacle(kind, tools);
    return why === undefined ? [] : [{ kind, planned: planned(kind), why }];
  });
  const reports: Array<RunReport> = [];
  for (const { peers, isAlone, plan } of plans) {
    const own = mkdtempSync(join(folder, `${peers}-peers-`));
    reports.push(
      await runCluster({
        seed,
        peers,
        isAlone,
        millis,
        callers,
        rows,
        tls,
        isLeaking,
        planted,
        plan,
        tools,
        folder: own,
        say,
      }),
    );
    if (reports.at(-1)?.violation !== undefined) break;
  }
  const isViolated = reports.some(({ violation }) => violation !== undefined);
  const summary = summaryOf(reports, { seed, minutes, impossible, kept: isViolated ? folder : undefined });
  for (const line of json ? [JSON.stringify(summary)] : summaryLines(summary)) printLine(line);
  return isViolated ? VIOLATED : GREEN;
};

const main = async (): Promise<number> => {
  const parsed = parseOptions(process.argv.slice(2), () => randomInt(2 ** 31));
  if (Either.isLeft(parsed)) {
    complain(`chaos: ${parsed.left}\n\n${helpText}`);
    return MISUSED;
  }
  if (parsed.right.help) {
    printLine(helpText);
    return GREEN;
  }
  const { minutes, clusters } = parsed.right;
  const folder = mkdtempSync(join(tmpdir(), "custody-chaos-"));
  setTimeout(
    () => {
      complain(`chaos: it did not come to an end in time; databases and logs: ${folder}`);
      process.exit(NOT_RUN);
    },
    minutes * 60_000 + (clusters.length + clusters.filter(({ isAlone }) => isAlone).length) * AROUND_MILLIS,
  ).unref();
  try {
    const code = await runAll(parsed.right, folder);
    if (code === GREEN) rmSync(folder, { recursive: true, force: true });
    return code;
  } catch (fault) {
    complain(
      `chaos: ${fault instanceof CannotStart ? fault.message : fault instanceof Error ? fault.stack : "unknown"}`,
    );
    complain(`databases and logs, as far as there are any: ${folder}`);
    return NOT_RUN;
  }
};

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(INTERRUPTED));
process.on("exit", killAll);
process.exit(await main());
