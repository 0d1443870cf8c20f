/** The folder of secrets that `custody dev` keeps beside its peers; nothing else may start a peer with one. */
import { join } from "node:path";
import { Effect, Schema } from "effect";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { type FileFault, readBoundedFile, readBoundedText } from "../config/BoundedFile.ts";
import { type StartError, startError } from "./StartError.ts";

const SharesFile = Schema.parseJson(
  Schema.Struct({ peerId: Schema.Number, shares: Schema.Array(Schema.String).pipe(Schema.maxItems(255)) }),
);

const named = ({ message }: FileFault): StartError => startError(message);

/** The unseal shares of one peer, in Base64; none when the folder has no file for it. */
export const developmentShares = (
  directory: string,
  peerId: PeerId,
): Effect.Effect<ReadonlyArray<string>, StartError> => {
  const path = join(directory, `peer-${peerId}.shares.json`);
  return readBoundedText(path, { maxBytes: 64 * 1024, secret: true }).pipe(
    Effect.flatMap((text) => Schema.decodeUnknown(SharesFile)(text)),
    Effect.map(({ shares }) => shares),
    // The reason a schema gives quotes what it read, and this file holds secrets.
    Effect.catchTag("ParseError", () =>
      Effect.fail(startError(`${path}: holds no unseal shares; start custody dev again`)),
    ),
    Effect.catchTag("FileFault", (fault) => (fault.isMissing ? Effect.succeed([]) : Effect.fail(named(fault)))),
  );
};

/** The bootstrap secret of a development cluster; one newline at its end does not count. */
export const developmentBootstrap = (directory: string): Effect.Effect<Uint8Array, StartError> => {
  const path = join(directory, "bootstrap");
  return readBoundedFile(path, { maxBytes: 4096, secret: true }).pipe(
    Effect.map((bytes) => (bytes.at(-1) === 0x0a ? bytes.slice(0, -1) : bytes)),
    Effect.mapError(named),
  );
};
