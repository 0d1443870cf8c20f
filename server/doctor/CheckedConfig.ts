/** A configuration looked at as a start would, with every file that it names, and without starting or making anything. */
import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { Effect, Either } from "effect";
import { fileKeySource } from "../auth/KeySource.ts";
import { parseKeyDocument } from "../auth/KeyDocument.ts";
import { bootstrapSecretSource, loadBootstrapSecret } from "../config/BootstrapSecret.ts";
import { configDigestInput } from "../config/ConfigDigest.ts";
import { ConfigError, type ConfigProblem } from "../config/ConfigError.ts";
import { loadConfig } from "../config/ConfigFile.ts";
import type { Config } from "../config/ConfigSchema.ts";
import { loadRelyingParty } from "../config/LoadRelyingParty.ts";
import { missingSecret } from "../peer/FoundingSettings.ts";
import { directoryFault, isMarkedInitialized } from "../sqlite/StoreDirectory.ts";
import { loadCollectorHeaders } from "../telemetry/CollectorHeaders.ts";
import { certificatesOf, type NamedCertificate } from "../tls/Certificates.ts";
import { loadTls } from "../tls/TlsMaterial.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface CheckedConfig {
  readonly config: Config;
  /** SHA-256 of what must be the same on every peer, in hexadecimal; as peers compare it and `status` shows it. */
  readonly digest: string;
  readonly certificates: ReadonlyArray<NamedCertificate>;
  /** What stops no start, and should be mended. */
  readonly warnings: ReadonlyArray<ConfigProblem>;
}

const problemsOf = <A>(effect: Effect.Effect<A, ConfigError>): Effect.Effect<ReadonlyArray<ConfigProblem>> =>
  Effect.match(effect, { onSuccess: () => [], onFailure: ({ problems }) => problems });

const mayUse = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
};

/** The data folder as it is; a start makes it when only it is missing. */
const dataFolderProblems = ({ peer: { dataDir } }: Config): ReadonlyArray<ConfigProblem> => {
  const path = "peer.data-dir";
  const folder = resolve(dataDir);
  const status = statSync(folder, { throwIfNoEntry: false });
  if (status !== undefined && !status.isDirectory())
    return [{ path, message: `${folder} is not a folder; name another` }];
  const have = `have ${folder} made, and given to the user of the peer with mode 0700`;
  if (status === undefined && !mayUse(dirname(folder), constants.F_OK))
    return [{ path, message: `${folder}: its parent folder does not exist; ${have}` }];
  if (status === undefined && !mayUse(dirname(folder), constants.R_OK | constants.W_OK | constants.X_OK))
    return [{ path, message: `${folder} does not exist, and this user may not make it; ${have}` }];
  if (status !== undefined && !mayUse(folder, constants.R_OK | constants.W_OK | constants.X_OK))
    return [{ path, message: `${folder}: this user may not write in it; run this as the user of the peer` }];
  const fault = directoryFault(folder);
  return fault === undefined ? [] : [{ path, message: fault.message }];
};

const tokenKeyProblems = ({ auth }: Config): Effect.Effect<ReadonlyArray<ConfigProblem>> => {
  const { file } = auth.jwks;
  if (file === undefined) return Effect.succeed([]);
  return Effect.map(Effect.promise(fileKeySource(file)), (bytes) => {
    const parsed = Either.flatMap(bytes, (each) =>
      Either.mapLeft(parseKeyDocument(each), (fault) => `${file} ${fault}`),
    );
    return Either.isLeft(parsed) ? [{ path: "auth.jwks.file", message: parsed.left }] : [];
  });
};

interface Graded {
  readonly problems: ReadonlyArray<ConfigProblem>;
  readonly warnings: ReadonlyArray<ConfigProblem>;
}

/** Why a start reads no bootstrap secret; undefined where it does. */
const unreadBecause = ({ peer, cluster }: Config): string | undefined => {
  if (isMarkedInitialized(peer.dataDir))
    return "is ignored once the cluster is founded; remove the setting and delete the secret then";
  // It founds nothing: it becomes a member by the signatures of all.
  return cluster.source === undefined ? undefined : "is ignored at a target of a promotion; remove the setting";
};

/** One that is to found a cluster cannot do so without the secret. */
const secretFindings = (config: Config, env: Environment): Effect.Effect<Graded> =>
  Effect.gen(function* () {
    const source = bootstrapSecretSource(config, env);
    const message = unreadBecause(config);
    if (message !== undefined)
      return { problems: [], warnings: source === undefined ? [] : [{ path: source, message }] };
    const faults = yield* problemsOf(loadBootstrapSecret(config, env));
    const isMissing = source === undefined && config.cluster.peers.length > 0 && !config.development;
    return { problems: isMissing ? [...faults, missingSecret] : faults, warnings: [] };
  });

/** A peer goes on without its sinks, so this stops no start; a missing folder is made with the first event. */
const sinkWarnings = ({ audit }: Config): ReadonlyArray<ConfigProblem> => {
  const { file } = audit.sinks;
  if (file === undefined) return [];
  const found = (target: string) => statSync(target, { throwIfNoEntry: false });
  const path = "audit.sinks.file.path";
  const folder = dirname(file.path);
  const place = found(folder) === undefined ? dirname(folder) : folder;
  if (found(file.path)?.isFile() === false) return [{ path, message: `${file.path} is not a file; name another` }];
  return mayUse(place, constants.W_OK | constants.X_OK)
    ? []
    : [{ path, message: `${file.path}: this user may not write in ${place}; create it, and give it to this user` }];
};

const developmentWarnings = ({ development }: Config): ReadonlyArray<ConfigProblem> =>
  development
    ? [{ path: "development", message: "is true: only custody dev starts such a peer; never set it in production" }]
    : [];

/**
 * Reads a configuration and every file that it names, as a start would, and certificates more closely. Nothing is made
 * or changed, no port opened and no address called.
 *
 * Fails with a {@link ConfigError} of every problem: of the settings, and where these hold, of all files.
 *
 * @param now Unix milliseconds
 */
export const checkConfig = (file: string, env: Environment, now: number): Effect.Effect<CheckedConfig, ConfigError> =>
  Effect.gen(function* () {
    const config = yield* loadConfig(file, env);
    const party = yield* Effect.either(loadRelyingParty(config));
    const certificates = yield* certificatesOf(config, now);
    const secret = yield* secretFindings(config, env);
    const problems = [
      ...dataFolderProblems(config),
      ...(yield* problemsOf(loadTls(config))),
      ...certificates.problems,
      ...secret.problems,
      ...(yield* tokenKeyProblems(config)),
      ...(yield* problemsOf(loadCollectorHeaders(config.telemetry?.headersFile))),
      ...(Either.isLeft(party) ? party.left.problems : []),
    ];
    if (Either.isLeft(party) || problems.length > 0) return yield* new ConfigError({ problems });
    return {
      config,
      digest: bytesToHex(sha256(utf8ToBytes(configDigestInput(config, party.right)))),
      certificates: certificates.certificates,
      warnings: [...developmentWarnings(config), ...sinkWarnings(config), ...secret.warnings, ...certificates.warnings],
    };
  });
