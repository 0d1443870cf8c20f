/** SIGHUP: certificates, token keys and log level anew, without a pause and without unsealing. */
import { Effect, Either } from "effect";
import { takeOver } from "../config/ConfigChanges.ts";
import { loadConfig } from "../config/ConfigFile.ts";
import type { Config } from "../config/ConfigSchema.ts";
import { renewedTls } from "../tls/Certificates.ts";
import type { ListenerName, TlsMaterial } from "../tls/TlsMaterial.ts";
import type { LevelledLog } from "./Log.ts";

export interface ReloadPorts {
  readonly configFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: LevelledLog;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Gives the listeners that it names, and the calls to other peers, their new certificates. */
  readonly useTls: (tls: Partial<TlsMaterial>) => void;
  /** Reads the token keys anew. The result is undefined, or why the old ones stay. */
  readonly reloadKeys: () => Promise<string | undefined>;
}

/** A configuration that was taken over, in which some listeners keep the files that they had. */
const keeping = (current: Config, config: Config, kept: ReadonlyMap<ListenerName, unknown>): Config => ({
  ...config,
  http: kept.has("http") ? current.http : config.http,
  peerHttp: kept.has("peer-http") ? current.peerHttp : config.peerHttp,
  ...(current.metrics !== undefined && kept.has("metrics") ? { metrics: current.metrics } : {}),
});

/**
 * Reads everything anew that a running peer can change. A file that cannot be used is named in the log with the reason,
 * and the one in use stays; so does every setting that needs a start.
 *
 * @param running the configuration the peer was started with
 * @returns reloads once; calls in between wait for each other
 */
export const makeReload = (running: Config, ports: ReloadPorts): (() => Promise<void>) => {
  const { configFile, env, log, now, useTls, reloadKeys } = ports;
  let current = running;
  let turn: Promise<void> = Promise.resolve();

  const kept = (what: string, reason: string, listener?: ListenerName): void =>
    log.error("reload", { kept: what, listener, reason });

  const reload = async (): Promise<void> => {
    const fresh = await Effect.runPromise(Effect.either(loadConfig(configFile, env)));
    if (Either.isLeft(fresh)) kept("configuration", fresh.left.message);
    const { config, needsRestart } = takeOver(
      current,
      Either.getOrElse(fresh, () => current),
    );
    log.setLevel(config.peer.logLevel);
    const tls = await Effect.runPromise(renewedTls(config, now()));
    for (const [listener, { message }] of tls.kept) kept("certificates", message, listener);
    useTls(tls.material);
    // Broken files stay named for the next time; the others hold.
    current = keeping(current, config, tls.kept);
    const keyFault = await reloadKeys();
    if (keyFault !== undefined) kept("token keys", `auth.jwks: ${keyFault}`);
    if (needsRestart.length > 0)
      log.warn("reload", { needsRestart: needsRestart.join(", "), reason: "these settings change at the next start" });
    log.info("reloaded", {
      configuration: Either.isRight(fresh),
      certificates: tls.kept.size === 0,
      tokenKeys: keyFault === undefined,
      logLevel: config.peer.logLevel,
    });
  };

  return () => {
    turn = turn.then(reload);
    return turn;
  };
};
