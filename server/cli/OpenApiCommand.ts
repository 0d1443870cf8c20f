/** `custody openapi`: the description of the API, as every peer of this version serves it. */
import { fileURLToPath } from "node:url";
import * as Command from "@effect/cli/Command";
import { Effect } from "effect";
import { packageVersion } from "../config/Version.ts";
import { printLines } from "./Output.ts";

export const openApiCommand = Command.make("openapi", {}, () =>
  Effect.gen(function* () {
    const { openApi } = yield* Effect.promise(() => import("../http/endpoints/OpenApi.ts"));
    const document = openApi(packageVersion(fileURLToPath(import.meta.url)));
    yield* printLines([JSON.stringify(document, undefined, 2)]);
  }),
).pipe(
  Command.withDescription(
    "Print the description of the API (OpenAPI 3.1, JSON) that a peer of this version serves at /openapi.json. Asks no peer.",
  ),
);
