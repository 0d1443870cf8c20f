/** `cluster.json`: which peers a development folder has, and where they listen. */
import { stat } from "node:fs/promises";
import { Effect, Either, Schema } from "effect";
import { type CliFailure, usageFailure } from "../cli/CliFailure.ts";
import { readBoundedText } from "../config/BoundedFile.ts";
import type { DevFolder } from "./DevFolder.ts";
import { writePrivateFile } from "./PrivateFile.ts";

/** The most peers a development cluster may have. */
export const mostPeers = 9;

/** The peer that was alone, where there is a promotion. */
export const SOURCE = 1;

const Port = Schema.Number.pipe(Schema.int(), Schema.between(1, 65_535));

const ClusterSchema = Schema.Struct({
  version: Schema.Literal(1),
  audience: Schema.NonEmptyString,
  issuer: Schema.NonEmptyString,
  peers: Schema.NonEmptyArray(Schema.Struct({ id: Schema.Number, httpPort: Port, peerPort: Port })).pipe(
    Schema.maxItems(mostPeers),
    Schema.filter((peers) => peers.every(({ id }, index) => id === index + 1)),
  ),
  /** The identity key of peer 1, where that was alone first and all others are the targets of its promotion. */
  sourceKey: Schema.optionalWith(Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)), { exact: true }),
});

export type Cluster = typeof ClusterSchema.Type;
export type ClusterPeer = Cluster["peers"][number];

const decode = Schema.decodeUnknownEither(Schema.parseJson(ClusterSchema), { onExcessProperty: "error" });

/** A majority, and never one of several: `1 < threshold <= total` but for a mono instance. */
export const thresholdOf = (total: number): number => Math.floor(total / 2) + 1;

/** The cluster of a folder; undefined when the folder, or the file in it, does not exist. */
export const readCluster = (folder: DevFolder): Effect.Effect<Cluster | undefined, CliFailure> =>
  Effect.gen(function* () {
    const found = yield* Effect.option(Effect.tryPromise(() => stat(folder.cluster)));
    if (found._tag === "None") return undefined;
    const text = yield* readBoundedText(folder.cluster, { maxBytes: 64 * 1024, secret: false }).pipe(
      Effect.mapError((fault) => usageFailure(fault.message)),
    );
    return yield* Either.mapLeft(decode(text), () =>
      usageFailure(`${folder.cluster} is not the cluster file of this version; give another --data`),
    );
  });

/** Writes the cluster file. */
export const writeCluster = (folder: DevFolder, cluster: Cluster): Effect.Effect<void, CliFailure> =>
  writePrivateFile(folder.cluster, `${JSON.stringify(cluster, undefined, 2)}\n`);
