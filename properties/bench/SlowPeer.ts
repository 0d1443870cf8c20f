/** One peer of a development cluster whose every flush takes longer. Arguments: configuration, secrets folder, milliseconds. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime";
import { Effect } from "effect";
import { startServer } from "../../server/peer/Server.ts";

const [configFile = "", devSecretsDir = "", millis = "0"] = process.argv.slice(2);

NodeRuntime.runMain(
  startServer(
    { configFile, devSecretsDir, env: {}, flushDelayMillis: Number(millis) },
    { writeLog: (line) => void process.stderr.write(line), halt: () => process.exit(70) },
  ).pipe(Effect.zipRight(Effect.never), Effect.scoped),
);
