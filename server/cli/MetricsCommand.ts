/** `custody metrics`: what a peer measures, from the names and texts that it serves. */
import * as Command from "@effect/cli/Command";
import { Effect } from "effect";
import { jsonLine, printLines } from "./Output.ts";
import { jsonOption } from "./ServiceOptions.ts";

export const metricsCommand = Command.make("metrics", { json: jsonOption }, ({ json }) =>
  Effect.gen(function* () {
    const { metricEntries } = yield* Effect.promise(() => import("../peer/Metrics.ts"));
    const entries = yield* Effect.promise(metricEntries);
    yield* printLines(
      json
        ? [jsonLine(entries)]
        : entries.flatMap(({ name, type, labels, help }) => [
            `${name}${labels.length === 0 ? "" : `{${labels.join(",")}}`} ${type}`,
            `  ${help}`,
          ]),
    );
  }),
).pipe(Command.withDescription("List every metric of a peer with its type, labels and meaning. Asks no peer."));
