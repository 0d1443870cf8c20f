/** The options of commands that ask every peer of a cluster, and the clients they describe. */
import * as Options from "@effect/cli/Options";
import { Effect, Option, type Scope } from "effect";
import { devFolder } from "../dev/DevFolder.ts";
import { readCluster } from "../dev/ClusterFile.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";
import { type Connection, openAt } from "./ServiceOptions.ts";
import type { Service } from "./ServiceClient.ts";

export interface PeerList {
  readonly services: ReadonlyArray<string>;
  readonly data: string | undefined;
}

/** `--service` for each peer, or `--data`. */
export const peerListOptions: Options.Options<PeerList> = Options.all({
  services: Options.text("service").pipe(
    Options.withPseudoName("URL"),
    Options.withDescription("Address of a peer; once for every peer of the cluster."),
    Options.repeated,
    // As the parser has it anyway; stated, so that help shows it.
    Options.withDefault([]),
  ),
  data: Options.text("data").pipe(
    Options.withPseudoName("DIR"),
    Options.withDescription("Instead: the folder of a development cluster, with its operator's token."),
    Options.optional,
    Options.map(Option.getOrUndefined),
  ),
});

/** The most peers that one command asks. */
const MOST = 64;

/**
 * A client for every peer, in the order named. Fails with a usage {@link CliFailure} before anything is sent, also
 * where none is named, one twice, or more than 64.
 */
export const peersOf = (
  { services, data }: PeerList,
  connection: Connection,
  env: Readonly<Record<string, string | undefined>>,
): Effect.Effect<ReadonlyArray<Service>, CliFailure, Scope.Scope> =>
  Effect.gen(function* () {
    if (services.length > 0 && data !== undefined)
      return yield* usageFailure("--service and --data both name the peers; keep one of them");
    if (new Set(services).size < services.length) return yield* usageFailure("--service names a peer twice");
    if (services.length > MOST) return yield* usageFailure(`--service may name ${MOST} peers at most`);
    const at = openAt(connection, env);
    if (services.length > 0) return yield* Effect.forEach(services, (url) => at(url, "--service"));
    if (data === undefined)
      return yield* usageFailure(
        "no peer is named; give --service URL for every peer of the cluster, or --data DIR of a development cluster",
      );
    const folder = devFolder(data);
    const cluster = yield* readCluster(folder);
    if (cluster === undefined)
      return yield* usageFailure(`--data: ${folder.cluster} does not exist; name the folder of custody dev`);
    const hasToken = connection.tokenFile !== undefined || env["CUSTODY_TOKEN"] !== undefined;
    const open = hasToken ? at : openAt({ ...connection, tokenFile: folder.operatorToken }, env);
    return yield* Effect.forEach(cluster.peers, ({ httpPort }) => open(`http://127.0.0.1:${httpPort}`, "--data"));
  });
