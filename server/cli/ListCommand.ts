/** `custody approvers list`. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { metadataOf, metadataOption } from "./ApproverOptions.ts";
import { type ApproverPage, readListAnswer } from "./Answers.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";
import { isUnread, jsonLine, printErrorLines, printLines } from "./Output.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";
import type { Service } from "./ServiceClient.ts";
import { tableLines } from "./Table.ts";

const MOST = 200;

const optionalText = (name: string, pseudoName: string, description: string) =>
  Options.text(name).pipe(
    Options.withPseudoName(pseudoName),
    Options.withDescription(description),
    Options.optional,
    Options.map(Option.getOrUndefined),
  );

const limitOption = Options.integer("limit").pipe(
  Options.withPseudoName("N"),
  Options.withDescription(`The most versions of one page, from 1 to ${MOST}.`),
  Options.withDefault(50),
);

const pageAt = ({ call }: Service, query: URLSearchParams): Effect.Effect<ApproverPage, CliFailure> =>
  Effect.flatMap(call({ method: "GET", path: `/v1/custody/approvers?${query.toString()}` }), ({ body }) =>
    readListAnswer(body),
  );

const rowOf = ({ ref, credential, metadata, metadataRevision, updatedAt }: ApproverPage["items"][number]) => [
  ref,
  credential.type,
  credential.algorithm,
  String(metadataRevision),
  new Date(updatedAt).toISOString(),
  Object.entries(metadata)
    .map(([key, value]) => `${key}=${value}`)
    .join(" "),
];

const HEADING = ["REF", "TYPE", "ALGORITHM", "REVISION", "UPDATED", "METADATA"];

const isFiltered = (query: URLSearchParams): boolean =>
  [...query.keys()].some((name) => name !== "limit" && name !== "cursor");

/** Prints pages as they come; a page may be empty and not the last. Gives the cursor where it stopped. */
const print = (service: Service, query: URLSearchParams, all: boolean, json: boolean) =>
  Effect.gen(function* () {
    for (;;) {
      const page = yield* pageAt(service, query);
      const isFirst = !query.has("cursor");
      if (json) yield* printLines([jsonLine(page)]);
      else if (page.items.length > 0) yield* printLines(tableLines(HEADING, page.items.map(rowOf)));
      else if (isFirst && page.nextCursor === null)
        yield* printErrorLines([isFiltered(query) ? "no version has all of that" : "nothing is registered yet"]);
      if (!all || page.nextCursor === null || isUnread()) return page.nextCursor;
      query.set("cursor", page.nextCursor);
    }
  });

export const list = Command.make(
  "list",
  {
    id: optionalText("id", "ID", "Versions of this id only."),
    type: Options.choice("type", ["SIGNATURE", "WEBAUTHN"]).pipe(
      Options.withDescription("Credentials of this type only."),
      Options.optional,
      Options.map(Option.getOrUndefined),
    ),
    metadata: metadataOption.pipe(
      Options.withDescription("Versions with this pair only; with several, those that have all of them."),
    ),
    limit: limitOption,
    cursor: optionalText("cursor", "CURSOR", "Go on where a page with the same filters ended."),
    all: Options.boolean("all").pipe(Options.withDescription("Every page, one after the other.")),
    service: serviceOptions,
    json: jsonOption,
  },
  ({ id, type, metadata: pairs, limit, cursor, all, service, json }) =>
    Effect.gen(function* () {
      if (limit < 1 || limit > MOST) return yield* usageFailure(`--limit is a number from 1 to ${MOST}`);
      const { metadata = {} } = yield* metadataOf(pairs);
      const query = new URLSearchParams({
        ...(id === undefined ? {} : { id }),
        ...(type === undefined ? {} : { type }),
        ...Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value])),
        limit: String(limit),
        ...(cursor === undefined ? {} : { cursor }),
      });
      const next = yield* print(yield* serviceOf(service, process.env), query, all, json);
      if (next !== null && !json) yield* printErrorLines([`more: --cursor ${next}`]);
    }).pipe(Effect.scoped),
).pipe(Command.withDescription("List versions by ref, in pages; --json prints each page as one line."));
