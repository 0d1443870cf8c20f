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
 * @returns reloads once, and never rejects; calls in between wait for each other
 */
export const makeReload = (running: Config, ports: ReloadPorts): (() => Promise<void>) => {
  const { configFile, env, log, now, useTls, reloadKeys } = ports;
  let current = running;
  let turn: Promise<void> = Promise.resolve();

  const kept = (what: string, reason: string, listener?: ListenerName): void =>
    log.error("reload", { kept: what, listener, reason });

  /** A signal must not end a peer: whatever a part throws is logged, and what that part has in use stays. */
  const held = async <A>(what: string, otherwise: A, part: () => Promise<A>): Promise<A> => {
    try {
      return await part();
    } catch (fault) {
      kept(what, fault instanceof Error ? fault.message : "an unknown fault");
      return otherwise;
    }
  };

  const readFile = async (): Promise<Config | undefined> => {
    const fresh = await Effect.runPromise(Effect.either(loadConfig(configFile, env)));
    if (Either.isRight(fresh)) return fresh.right;
    kept("configuration", fresh.left.message);
    return undefined;
  };

  const renew = async (config: Config): Promise<boolean> => {
    const tls = await Effect.runPromise(renewedTls(config, now()));
    for (const [listener, { message }] of tls.kept) kept("certificates", message, listener);
    useTls(tls.material);
    // Broken files stay named for the next time; the others hold.
    current = keeping(current, config, tls.kept);
    return tls.kept.size === 0;
  };

  const readKeys = async (): Promise<boolean> => {
    const fault = await reloadKeys();
    if (fault !== undefined) kept("token keys", `auth.jwks: ${fault}`);
    return fault === undefined;
  };

  const reload = async (): Promise<void> => {
    const fresh = await held("configuration", undefined, readFile);
    const { config, needsRestart } = takeOver(current, fresh ?? current);
    log.setLevel(config.peer.logLevel);
    const certificates = await held("certificates", false, () => renew(config));
    const tokenKeys = await held("token keys", false, readKeys);
    if (needsRestart.length > 0)
      log.warn("reload", { needsRestart: needsRestart.join(", "), reason: "these settings change at the next start" });
    log.info("reloaded", {
      configuration: fresh !== undefined,
      certificates,
      tokenKeys,
      logLevel: config.peer.logLevel,
    });
  };

  return () => {
    turn = turn.then(reload);
    return turn;
  };
};
