/** The folder of secrets that `custody dev` keeps beside its peers; nothing else may start a peer with one. */
import { join } from "node:path";
import { Effect, Either, Schema } from "effect";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { type FileFault, readBoundedFile, readBoundedText } from "../config/BoundedFile.ts";
import type { Log } from "./Log.ts";
import type { Peer } from "./Peer.ts";
import type { SealControl } from "./SealControl.ts";
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

interface Sealed {
  readonly peer: Peer;
  readonly control: SealControl;
  readonly log: Log;
}

/** Unseals a peer of a development cluster from its folder; a production peer waits for its operators. */
export const unsealFrom = (directory: string, { peer, control, log }: Sealed): Effect.Effect<void, StartError> =>
  Effect.gen(function* () {
    const {
      cluster: { peer: row },
    } = peer.state;
    if (row === undefined) return;
    for (const share of yield* developmentShares(directory, row.peerId)) {
      const step = yield* Effect.promise(() => control.unseal(share));
      if (Either.isLeft(step)) {
        log.error("unseal", { reason: "detail" in step.left ? step.left.detail : step.left.message });
        return;
      }
      if (step.right.state === "UNSEALED") return;
    }
  });
