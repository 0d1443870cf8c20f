/** `custody dev` and `custody token`: a cluster to develop against, and tokens for it. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option, Redacted } from "effect";
import type { DevSettings } from "../dev/RunDev.ts";
import { durationOption } from "./DurationOption.ts";
import { printLines } from "./Output.ts";
import { jsonOption } from "./ServiceOptions.ts";

const optionalNumber = (name: string, description: string) =>
  Options.integer(name).pipe(
    Options.withPseudoName("N"),
    Options.withDescription(description),
    Options.optional,
    Options.map(Option.getOrUndefined),
  );

const dataOption = Options.text("data").pipe(
  Options.withPseudoName("DIR"),
  Options.withDescription("The folder of the cluster. Default: .custody-dev."),
  Options.withDefault(".custody-dev"),
);

const readyFileOption = Options.text("ready-file").pipe(
  Options.withPseudoName("FILE"),
  Options.withDescription("Write addresses, process ids and the operator's token there as JSON, once all is ready."),
  Options.optional,
  Options.map(Option.getOrUndefined),
);

const run = (settings: DevSettings) =>
  Effect.promise(() => import("../dev/RunDev.ts")).pipe(Effect.flatMap(({ runDev }) => runDev(settings)));

const promote = (entry: string) =>
  Command.make(
    "promote",
    {
      peers: optionalNumber("peers", "Peers of the cluster that it becomes, 2 to 9."),
      data: dataOption,
      readyFile: readyFileOption,
      json: jsonOption,
    },
    (settings) => run({ ...settings, entry, port: undefined, promotes: true }),
  ).pipe(
    Command.withDescription(
      "Promote the one peer of a folder to a cluster, with everything it holds, and run that. Stop custody dev before; repeating is harmless.",
    ),
  );

/** @param entry the absolute path of the `custody` script, which the peers run too */
export const devCommand = (entry: string) =>
  Command.make(
    "dev",
    {
      peers: optionalNumber(
        "peers",
        "Peers of a new cluster, 1 to 9. Default: 3; an existing folder keeps its number.",
      ),
      data: dataOption,
      port: optionalNumber(
        "port",
        "First public port; peer APIs listen 100 above. 0 takes free ports. Default: 7300, or those of the folder.",
      ),
      readyFile: readyFileOption,
      json: jsonOption,
    },
    (settings) => run({ ...settings, entry, promotes: false }),
  ).pipe(
    Command.withDescription("Start a whole cluster on this machine, one process per peer, ready to use."),
    Command.withSubcommands([promote(entry)]),
  );

export const tokenCommand = Command.make(
  "token",
  {
    data: dataOption,
    subject: Options.text("sub").pipe(
      Options.withPseudoName("NAME"),
      Options.withDescription("Whom the token names as its subject."),
    ),
    permissions: Options.text("permission").pipe(
      Options.withPseudoName("P"),
      Options.withDescription("A permission, such as service.approvers.read; may be repeated."),
      Options.atLeast(1),
    ),
    ttlMillis: durationOption("ttl", [1000, 30 * 86_400_000], "1s to 30d").pipe(
      Options.withDescription("How long the token is valid. Default: 1h."),
      Options.withDefault(3_600_000),
    ),
    json: jsonOption,
  },
  ({ data, subject, permissions, ttlMillis, json }) =>
    Effect.gen(function* () {
      const { devFolder } = yield* Effect.promise(() => import("../dev/DevFolder.ts"));
      const { mintExisting } = yield* Effect.promise(() => import("../dev/Tokens.ts"));
      const token = yield* mintExisting(devFolder(data), { subject, permissions, ttlMillis });
      const text = Redacted.value(token);
      yield* printLines([json ? JSON.stringify({ token: text }) : text]);
    }),
).pipe(Command.withDescription("Print an access token for a development cluster."));
