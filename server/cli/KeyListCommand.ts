/** `custody keys list`. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { KEYS_PATH } from "../../core/commands/keys/KeyId.ts";
import { keyStatuses } from "../../core/commands/keys/KeyRecord.ts";
import { usageFailure } from "./CliFailure.ts";
import { type KeyPage, readKeyPage } from "./KeyAnswers.ts";
import { optionalText } from "./KeyOptions.ts";
import { isUnread, jsonLine, printErrorLines, printLines } from "./Output.ts";
import type { Service } from "./ServiceClient.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";
import { tableLines } from "./Table.ts";

const MOST = 200;

const rowOf = (key: KeyPage["items"][number]) => [
  key.keyId,
  key.status,
  key.algorithm,
  key.scheme,
  String(key.currentGeneration),
  `${key.threshold}/${key.total}`,
  key.health,
  new Date(key.updatedAt).toISOString(),
];

const HEADING = ["KEY", "STATUS", "ALGORITHM", "SCHEME", "GENERATION", "SIGN", "HEALTH", "UPDATED"];

/** Prints pages as they come; a page may be empty and not the last. Gives the cursor where it stopped. */
const print = ({ call }: Service, query: URLSearchParams, all: boolean, json: boolean) =>
  Effect.gen(function* () {
    for (;;) {
      const { body } = yield* call({ method: "GET", path: `${KEYS_PATH}?${query.toString()}` });
      const page = yield* readKeyPage(body);
      if (json) yield* printLines([jsonLine(body)]);
      else if (page.items.length > 0) yield* printLines(tableLines(HEADING, page.items.map(rowOf)));
      else if (page.nextCursor === null && !query.has("cursor")) yield* printErrorLines(["there is no such key"]);
      if (!all || page.nextCursor === null || isUnread()) return page.nextCursor;
      query.set("cursor", page.nextCursor);
    }
  });

export const listKeys = Command.make(
  "list",
  {
    assetOwner: optionalText("asset-owner", "OWNER", "Keys of this owner only."),
    status: Options.choice("status", keyStatuses).pipe(
      Options.withDescription("Keys of this status only."),
      Options.optional,
      Options.map(Option.getOrUndefined),
    ),
    limit: Options.integer("limit").pipe(
      Options.withPseudoName("N"),
      Options.withDescription(`The most keys of one page, from 1 to ${MOST}.`),
      Options.withDefault(50),
    ),
    cursor: optionalText("cursor", "CURSOR", "Go on where a page with the same filters ended."),
    all: Options.boolean("all").pipe(Options.withDescription("Every page, one after the other.")),
    service: serviceOptions,
    json: jsonOption,
  },
  ({ assetOwner, status, limit, cursor, all, service, json }) =>
    Effect.gen(function* () {
      if (limit < 1 || limit > MOST) return yield* usageFailure(`--limit is a number from 1 to ${MOST}`);
      const query = new URLSearchParams({
        ...(assetOwner === undefined ? {} : { assetOwner }),
        ...(status === undefined ? {} : { status }),
        limit: String(limit),
        ...(cursor === undefined ? {} : { cursor }),
      });
      const next = yield* print(yield* serviceOf(service, process.env), query, all, json);
      if (next !== null && !json) yield* printErrorLines([`more: --cursor ${next}`]);
    }).pipe(Effect.scoped),
).pipe(Command.withDescription("List keys by id, in pages; --json prints each page as one line."));
