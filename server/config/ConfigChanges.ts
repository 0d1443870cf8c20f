/** What a running peer can take over of a changed configuration file, and what waits for its next start. */
import type { Config, ListenerConfig } from "./ConfigSchema.ts";

type MetricsConfig = NonNullable<Config["metrics"]>;

/** A value's path in the file: `peerHttp.tls` is written `peer-http.tls`, and durations lose their unit. */
const written = (key: string): string =>
  key.replace(/Millis$/, "").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const isSection = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Every single setting by its path in the file; a list is one setting. */
const flat = (value: unknown, path: string): ReadonlyArray<readonly [string, string]> =>
  isSection(value)
    ? Object.entries(value).flatMap(([key, inner]) =>
        flat(inner, path === "" ? written(key) : `${path}.${written(key)}`),
      )
    : [[path, JSON.stringify(value)]];

/** The settings in which two configurations differ, by their paths in the file, ascending. */
const differing = (left: Config, right: Config): ReadonlyArray<string> => {
  const [before, after] = [new Map(flat(left, "")), new Map(flat(right, ""))];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .toSorted();
};

/** A listener goes on with or without TLS, and with or without callers' certificates, as it was opened. */
const listenerWith = (running: ListenerConfig, { tls }: ListenerConfig): ListenerConfig => {
  const isSameKind = (running.tls?.ca === undefined) === (tls?.ca === undefined);
  return running.tls !== undefined && tls !== undefined && isSameKind ? { ...running, tls } : running;
};

const metricsWith = (running: MetricsConfig, fresh: Config["metrics"]): MetricsConfig =>
  fresh === undefined ? running : { ...running, ...listenerWith(running, fresh) };

export interface TakenOver {
  /** The configuration that runs from now on. */
  readonly config: Config;
  /** Settings that differ in the file and need a start, by their paths there. */
  readonly needsRestart: ReadonlyArray<string>;
}

/** Takes over the log level and the names of certificate files; everything else stays as it runs. */
export const takeOver = (running: Config, fresh: Config): TakenOver => {
  const config = {
    ...running,
    peer: { ...running.peer, logLevel: fresh.peer.logLevel },
    http: listenerWith(running.http, fresh.http),
    peerHttp: listenerWith(running.peerHttp, fresh.peerHttp),
    ...(running.metrics === undefined ? {} : { metrics: metricsWith(running.metrics, fresh.metrics) }),
  };
  return { config, needsRestart: differing(config, fresh) };
};
