/** `custody config`: a peer's configuration, looked at before a start. */
import * as Args from "@effect/cli/Args";
import * as Command from "@effect/cli/Command";
import { Effect } from "effect";
import { usageFailure } from "./CliFailure.ts";
import { jsonLine, printable, printLines } from "./Output.ts";
import { peerEnvironment } from "./ServerCommand.ts";
import { jsonOption } from "./ServiceOptions.ts";

const day = (millis: number): string => new Date(millis).toISOString().slice(0, 10);

const check = Command.make(
  "check",
  {
    file: Args.text({ name: "file" }).pipe(Args.withDescription("The peer's YAML configuration.")),
    json: jsonOption,
  },
  ({ file, json }) =>
    Effect.gen(function* () {
      const { checkConfig } = yield* Effect.promise(() => import("../doctor/CheckedConfig.ts"));
      const checked = checkConfig(file, peerEnvironment(process.env), Date.now());
      const { digest, certificates, warnings } = yield* Effect.mapError(checked, ({ message }) =>
        usageFailure(message, "nothing was started; correct these and check again"),
      );
      if (json) return yield* printLines([jsonLine({ digest, certificates, warnings })]);
      yield* printLines(
        [
          "A peer can start with this configuration.",
          `Shared part, the same on every peer: ${digest}`,
          ...certificates.map(({ path, subject, expiresAt }) => `${path}: ${subject} is good until ${day(expiresAt)}`),
          ...warnings.map(({ path, message }) => `Warning: ${path}: ${message}`),
        ].map(printable),
      );
    }),
).pipe(
  Command.withDescription(
    "Read a configuration as `custody server` does, with CUSTODY_ variables, and every file it names: permissions, keys, certificates and how long they are good. Starts and changes nothing. Ends with 0 when a peer can start with it, warnings aside; with 2 and every problem otherwise.",
  ),
);

export const configCommand = Command.make("config").pipe(
  Command.withDescription("A peer's configuration."),
  Command.withSubcommands([check]),
);
