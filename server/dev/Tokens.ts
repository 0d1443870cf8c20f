/** Tokens of a development cluster's own issuer. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Effect, Redacted } from "effect";
import { DevelopmentIssuerError, openDevelopmentIssuer } from "../auth/DevelopmentIssuer.ts";
import { type CliFailure, usageFailure } from "../cli/CliFailure.ts";
import { type Cluster, readCluster } from "./ClusterFile.ts";
import type { DevFolder } from "./DevFolder.ts";

export interface TokenOrder {
  readonly subject: string;
  readonly permissions: ReadonlyArray<string>;
  readonly ttlMillis: number;
}

/** What the operator of a development cluster may do. */
export const operatorPermissions = [
  "service.system.*",
  "service.control.system",
  "service.approvers.register",
  "service.approvers.read",
  "service.approvers.metadata",
  "service.dkg.*",
  "service.compliance.inventory",
  "service.recover",
  "service.key.*.*",
];

/** How long the operator's token lasts. */
export const operatorTtlMillis = 12 * 3_600_000;

/** Mints a token, opening the issuer; makes its key when there is none yet. */
export const mintToken = (
  folder: DevFolder,
  { audience, issuer }: Cluster,
  order: TokenOrder,
): Effect.Effect<Redacted.Redacted, CliFailure> =>
  openDevelopmentIssuer(folder.issuer).pipe(
    Effect.flatMap(({ mint }) => mint({ ...order, audience, issuer, now: Date.now() })),
    Effect.map((token) => Redacted.make(token)),
    Effect.mapError((error: DevelopmentIssuerError) => usageFailure(error.message)),
  );

/** As {@link mintToken}, for a folder that must be a development cluster already. */
export const mintExisting = (folder: DevFolder, order: TokenOrder): Effect.Effect<Redacted.Redacted, CliFailure> =>
  Effect.gen(function* () {
    const cluster = yield* readCluster(folder);
    if (cluster === undefined || !existsSync(join(folder.issuer, "jwks.json"))) {
      const hint = "tokens are made only for clusters of custody dev; start one, or give its folder as --data";
      return yield* usageFailure(`${folder.root} is not a development cluster`, hint);
    }
    return yield* mintToken(folder, cluster, order);
  });
