/** The sinks that a configuration names. */
import { Effect } from "effect";
import type { Scope } from "effect/Scope";
import type { AuditReadPorts } from "../../runtime/AuditReads.ts";
import type { Config } from "../config/ConfigSchema.ts";
import type { Log } from "../peer/Log.ts";
import type { Metrics } from "../peer/Metrics.ts";
import { AuditSink } from "./AuditSink.ts";
import { type SinkName, SinkPositions } from "./SinkPositions.ts";
import { RotatedFile, type SinkTarget, standardOutput } from "./SinkTargets.ts";

/** How long a closing peer waits for a sink in the middle of a writing. */
const CLOSE_MILLIS = 2_000;

export interface AuditSinks {
  /** Why sinks write nothing at the moment; each "where: what; what to do". */
  readonly warnings: () => ReadonlyArray<string>;
  /** Durable events that the slowest sink has not written. */
  readonly behind: () => number;
}

interface SinkPorts {
  readonly reading: () => AuditReadPorts;
  readonly log: Log;
  readonly metrics: Metrics;
}

const targetsIn = ({ stdout, file }: Config["audit"]["sinks"]): ReadonlyArray<readonly [SinkName, SinkTarget]> => [
  ...(stdout ? [["stdout", standardOutput] as const] : []),
  ...(file === undefined ? [] : [["file", new RotatedFile(file)] as const]),
];

/** Starts them; with the scope each ends after what it is writing. */
export const openAuditSinks = (
  config: Pick<Config, "audit" | "peer">,
  { reading, log, metrics }: SinkPorts,
): Effect.Effect<AuditSinks, never, Scope> =>
  Effect.gen(function* () {
    const targets = targetsIn(config.audit.sinks);
    const report = (reason: string): void => log.warn("audit sink", { reason });
    const positions = yield* Effect.promise(() => SinkPositions.open(config.peer.dataDir, report));
    const sinks = targets.map(
      ([name, target]) =>
        new AuditSink({
          name,
          target,
          positions,
          reading,
          log,
          failed: () => metrics.count("custody_audit_sink_failures_total", name),
        }),
    );
    yield* Effect.acquireRelease(
      Effect.sync(() => sinks.forEach((sink) => sink.start())),
      () => Effect.promise(() => Promise.all(sinks.map((sink) => sink.stop(CLOSE_MILLIS)))),
    );
    return {
      warnings: () => sinks.flatMap(({ fault }) => fault ?? []),
      behind: () => Math.max(0, ...sinks.map(({ behind }) => behind)),
    };
  });
