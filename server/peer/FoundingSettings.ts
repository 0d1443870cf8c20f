/** Which founding settings a peer may and must have, depending on whether its cluster is founded already. */
import { CAPACITIES } from "../../core/base/Capacities.ts";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Effect } from "effect";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { PublicKey } from "../../core/base/Digest.ts";
import type { Settings } from "../../core/protocol/Event.ts";
import type { Rows } from "../../core/Tables.ts";
import { loadBootstrapSecret } from "../config/BootstrapSecret.ts";
import { configDigestInput } from "../config/ConfigDigest.ts";
import type { ConfigProblem } from "../config/ConfigError.ts";
import type { Config } from "../config/ConfigSchema.ts";
import { loadRelyingParty } from "../config/LoadRelyingParty.ts";
import { developmentBootstrap } from "./DevelopmentSecrets.ts";
import { type StartError, startError } from "./StartError.ts";

export interface Circumstances {
  readonly config: Config;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of `custody dev`, when it started this peer. */
  readonly devSecretsDir: string | undefined;
  /** The topology this peer has pinned. */
  readonly pinned: Rows["topology"] | undefined;
  /** Whether this peer knows who it is: then its disk may be a backup of before a founding that it took part in. */
  readonly isInitialized: boolean;
}

/** Development clusters keep their secrets on disk; neither they nor real ones are ever started as the other. */
const developmentFault = ({ config, devSecretsDir, pinned }: Circumstances): string | undefined => {
  const founded = pinned?.topology.development;
  if (founded === true && devSecretsDir === undefined)
    return "peer.data-dir: belongs to a development cluster; start it with custody dev, or name its secrets with --dev-secrets DIR";
  if (founded === false && config.development)
    return "development: is true, but peer.data-dir belongs to a cluster that was founded otherwise; set it to false";
  if (founded === true && !config.development)
    return "development: is false, but peer.data-dir belongs to a development cluster; start it with custody dev";
  if (config.development && devSecretsDir === undefined)
    return "development: is true, which only custody dev may say; set it to false, or name the secrets with --dev-secrets DIR";
  if (!config.development && devSecretsDir !== undefined)
    return "--dev-secrets: is for development clusters only; leave it out, or set development: true";
  return undefined;
};

/** A cluster of more than one peer has none yet. */
export const missingSecret: ConfigProblem = {
  path: "cluster.bootstrap-secret",
  message:
    "is required before a cluster of more than one peer is founded; name a file with the secret all its peers share, or set CUSTODY_BOOTSTRAP_SECRET",
};

const secretOf = ({ config, env, devSecretsDir, pinned, isInitialized }: Circumstances) =>
  Effect.gen(function* () {
    // A founded peer needs no secret and reads none: one that is left is harmless, and a warning tells of it.
    if (pinned !== undefined) return undefined;
    // A target of a promotion founds nothing: it becomes a member by the signatures of all.
    if (config.cluster.source !== undefined) return undefined;
    const given = yield* Effect.mapError(loadBootstrapSecret(config, env), (error) => startError(error.message));
    if (given !== undefined || config.cluster.peers.length === 0) return given;
    if (devSecretsDir !== undefined) return yield* developmentBootstrap(devSecretsDir);
    return isInitialized ? undefined : yield* startError(`${missingSecret.path}: ${missingSecret.message}`);
  });

/** The instance that a target of a promotion waits for; its key was judged by the schema of the file. */
const promotedBy = ({ cluster: { source } }: Config): Settings["joins"] =>
  source && { peerId: source.id, identityKey: source.identityKey as PublicKey };

/** The core's settings, or why this peer may not start. */
export const foundingSettings = (circumstances: Circumstances, crypto: Crypto): Effect.Effect<Settings, StartError> =>
  Effect.gen(function* () {
    const fault = developmentFault(circumstances);
    if (fault !== undefined) return yield* startError(fault);
    const { config } = circumstances;
    const relyingParty = yield* Effect.mapError(loadRelyingParty(config), ({ message }) => startError(message));
    return {
      configDigest: crypto.sha256(utf8ToBytes(configDigestInput(config, relyingParty))),
      audience: config.auth.audience,
      issuer: config.auth.issuer,
      ownId: config.peer.id,
      peers: config.cluster.peers.map(({ id }) => id),
      joins: promotedBy(config),
      bootstrapSecret: yield* secretOf(circumstances),
      development: config.development,
      answerMillis: config.approvers.answerTimeoutMillis,
      capacities: CAPACITIES,
      relyingParty,
      arbitrary: config.authorities.arbitrary,
    };
  });
