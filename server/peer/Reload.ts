/** SIGHUP: certificates, token keys and log level anew, without a pause and without unsealing. */
import { Effect, Either } from "effect";
import { takeOver } from "../config/ConfigChanges.ts";
import type { ConfigError } from "../config/ConfigError.ts";
import { loadConfig } from "../config/ConfigFile.ts";
import type { Config } from "../config/ConfigSchema.ts";
import { loadUsableTls } from "../tls/Certificates.ts";
import type { TlsMaterial } from "../tls/TlsMaterial.ts";
import type { LevelledLog } from "./Log.ts";

export interface ReloadPorts {
  readonly configFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: LevelledLog;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Gives both listeners and the calls to other peers their new certificates. */
  readonly useTls: (tls: TlsMaterial) => void;
  /** Reads the token keys anew. The result is undefined, or why the old ones stay. */
  readonly reloadKeys: () => Promise<string | undefined>;
}

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

  const kept = (what: string, reason: string): void => log.error("reload", { kept: what, reason });
  const keptFor =
    (what: string) =>
    ({ message }: ConfigError): void =>
      kept(what, message);

  const reload = async (): Promise<void> => {
    const fresh = await Effect.runPromise(Effect.either(loadConfig(configFile, env)));
    if (Either.isLeft(fresh)) keptFor("configuration")(fresh.left);
    const { config, needsRestart } = takeOver(
      current,
      Either.getOrElse(fresh, () => current),
    );
    log.setLevel(config.peer.logLevel);
    const tls = await Effect.runPromise(Effect.either(loadUsableTls(config, now())));
    Either.match(tls, { onLeft: keptFor("certificates"), onRight: useTls });
    // Broken files stay named for the next time; the others hold.
    current = Either.isRight(tls) ? config : { ...current, peer: config.peer };
    const keyFault = await reloadKeys();
    if (keyFault !== undefined) kept("token keys", `auth.jwks: ${keyFault}`);
    if (needsRestart.length > 0)
      log.warn("reload", { needsRestart: needsRestart.join(", "), reason: "these settings change at the next start" });
    log.info("reloaded", {
      configuration: Either.isRight(fresh),
      certificates: Either.isRight(tls),
      tokenKeys: keyFault === undefined,
      logLevel: config.peer.logLevel,
    });
  };

  return () => {
    turn = turn.then(reload);
    return turn;
  };
};
