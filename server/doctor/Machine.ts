/** This machine and the configuration of the peer on it, looked at from everywhere. */
import { Effect, Either } from "effect";
import { parseKeyDocument } from "../auth/KeyDocument.ts";
import { urlKeySource } from "../auth/KeySource.ts";
import type { Config } from "../config/ConfigSchema.ts";
import { filesNeeded } from "../net/ConnectionLimits.ts";
import { mostOpenFiles } from "../net/FileLimit.ts";
import { loadTls } from "../tls/TlsMaterial.ts";
import { checkConfig } from "./CheckedConfig.ts";
import { diskFindings } from "./Disk.ts";
import { fail, type Finding, ok, warn } from "./Finding.ts";
import { otherPeersFindings } from "./OtherPeers.ts";
import { portFinding } from "./Ports.ts";

/** The oldest Node that is supported; package.json says so too. */
export const OLDEST_NODE = "20.19.0";

const numbersOf = (version: string): ReadonlyArray<number> => version.split(".").map(Number);

/** @param version such as `22.3.1` */
export const nodeFinding = (version: string): Finding => {
  const [mine, oldest] = [numbersOf(version), numbersOf(OLDEST_NODE)];
  const at = mine.findIndex((number, index) => number !== oldest[index]);
  const isOld = at !== -1 && (mine[at] ?? 0) < (oldest[at] ?? 0);
  return isOld ? fail("node", `${version} is too old; install ${OLDEST_NODE} or later`) : ok("node", version);
};

const openFilesFinding = (config: Config): Finding => {
  const [most, needed] = [mostOpenFiles(), filesNeeded(config)];
  return most < needed
    ? warn("open files", `${most} here, ${needed} needed at most; raise LimitNOFILE, or lower limits.connections`)
    : ok("open files", `${most}`);
};

const tokenKeysFinding = async ({ auth }: Config): Promise<Finding> => {
  const { file, url } = auth.jwks;
  const check = "token keys";
  // A file was read with the configuration.
  if (url === undefined) return ok(check, file ?? "");
  const keys = Either.flatMap(await urlKeySource(url)(), parseKeyDocument);
  return Either.isLeft(keys) ? fail(check, `${url} ${keys.left}`) : ok(check, url);
};

export interface MachineFindings {
  readonly findings: ReadonlyArray<Finding>;
  /** Of what must be the same on every peer; undefined where the configuration does not hold. */
  readonly digest: string | undefined;
}

/**
 * Looks at a configuration, and with one that holds at everything it leads to: ports, disk, the other peers and their
 * clocks, token keys. Writes a file of its own beside the data for a moment, and changes nothing else.
 */
export const machineFindings = async (
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<MachineFindings> => {
  const checked = await Effect.runPromise(Effect.either(checkConfig(file, env, Date.now())));
  if (Either.isLeft(checked)) {
    const findings = checked.left.problems.map(({ path, message }) => fail("configuration", `${path}: ${message}`));
    return { findings, digest: undefined };
  }
  const { config, digest, certificates, warnings } = checked.right;
  // The check has loaded these already; a file that went away meanwhile is a fault like any other.
  const tls = await Effect.runPromise(Effect.either(loadTls(config)));
  if (Either.isLeft(tls)) return { findings: [fail("configuration", tls.left.message)], digest };
  const { peerClient } = tls.right;
  const warned = new Set(warnings.map(({ path }) => path));
  const findings = [
    ok("configuration", `${file}, shared part ${digest}`),
    ...warnings.map(({ path, message }) => warn(path, message)),
    ...certificates
      .filter(({ path }) => !warned.has(path))
      .map(({ path, subject, expiresAt }) =>
        ok(path, `${subject} until ${new Date(expiresAt).toISOString().slice(0, 10)}`),
      ),
    await portFinding("http", config.http, peerClient),
    await portFinding("peer-http", config.peerHttp, peerClient),
    ...(config.metrics === undefined ? [] : [await portFinding("metrics", config.metrics, peerClient)]),
    openFilesFinding(config),
    ...diskFindings(config.peer.dataDir),
    await tokenKeysFinding(config),
    ...(await otherPeersFindings(config, peerClient)),
  ];
  return { findings, digest };
};
