/** `custody server`: one peer in the foreground. */
import { dirname, join, resolve } from "node:path";
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { type CliFailure, usageFailure } from "./CliFailure.ts";

interface ServerSettings {
  readonly config: string;
  readonly devSecrets: string | undefined;
}

/** Names the process that runs a development peer, so that `custody dev` can stop one it did not start. */
const recordProcess = (config: string) =>
  Effect.gen(function* () {
    const { peerPidFileName } = yield* Effect.promise(() => import("../dev/DevFolder.ts"));
    const { removePidFile, runningPid, writePidFile } = yield* Effect.promise(() => import("../dev/PidFile.ts"));
    const pidFile = join(dirname(resolve(config)), peerPidFileName);
    const running = runningPid(pidFile);
    if (running !== undefined) {
      return yield* usageFailure(`this peer runs already, as process ${running}`, "stop it first");
    }
    yield* Effect.acquireRelease(
      Effect.try({
        try: () => writePidFile(pidFile),
        catch: () =>
          usageFailure(`${pidFile} cannot be written`, "--config must name a peer's file as custody dev wrote it"),
      }),
      () => Effect.sync(() => removePidFile(pidFile)),
    );
  });

/** CUSTODY_URL belongs to the commands that call a peer; a configuration does not know it. */
export const peerEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name !== "CUSTODY_URL"));

const runPeer = ({ config, devSecrets }: ServerSettings): Effect.Effect<never, CliFailure> =>
  Effect.gen(function* () {
    if (devSecrets !== undefined) yield* recordProcess(config);
    const { runServer } = yield* Effect.promise(() => import("../peer/RunServer.ts"));
    const env = peerEnvironment(process.env);
    const secrets = devSecrets === undefined ? {} : { devSecretsDir: resolve(devSecrets) };
    return yield* runServer({ configFile: config, ...secrets, env }).pipe(
      Effect.mapError(({ message }) => usageFailure(message)),
    );
  }).pipe(Effect.scoped);

export const serverCommand = Command.make(
  "server",
  {
    config: Options.text("config").pipe(
      Options.withPseudoName("FILE"),
      Options.withDescription("The peer's YAML configuration; docs/config.example.yaml explains every key."),
    ),
    devSecrets: Options.text("dev-secrets").pipe(
      Options.withPseudoName("DIR"),
      Options.withDescription(
        "The secrets of a development cluster; the peer then unseals itself. Never in production.",
      ),
      Options.optional,
      Options.map(Option.getOrUndefined),
    ),
  },
  runPeer,
).pipe(
  Command.withDescription(
    "Run one peer in the foreground, with its log on standard error. SIGTERM drains and closes it; SIGHUP reads certificates, token keys and the log level anew. Ends with 0 stopped on request, 2 where it cannot start, 70 where it stopped by itself.",
  ),
);
