/** `custody approvers metadata set | clear`: reads the revision, and replaces it only while it is the current one. */
import * as Args from "@effect/cli/Args";
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { type MetadataAnswer, readMetadataAnswer, readReplacedAnswer } from "./Answers.ts";
import { pairsOf, pathOf, refArgument } from "./ApproverOptions.ts";
import { CliFailure, usageFailure } from "./CliFailure.ts";
import { printResult } from "./Output.ts";
import type { Service } from "./ServiceClient.ts";
import { jsonOption, serviceOf, serviceOptions, type ServiceSettings } from "./ServiceOptions.ts";

type Pairs = Readonly<Record<string, string>>;

interface Wish {
  readonly ref: string;
  /** All pairs there are to be. */
  readonly change: (present: Pairs) => Pairs;
  /** Whether they depend on the present ones. */
  readonly needsPresent: boolean;
  /** The revision to replace; undefined for the one that a read shows. */
  readonly revision: number | undefined;
}

/** A record and what the command looks at of it. */
interface Present {
  readonly body: unknown;
  readonly seen: MetadataAnswer;
}

const read = ({ call }: Service, path: string): Effect.Effect<Present, CliFailure> =>
  call({ method: "GET", path }).pipe(
    Effect.flatMap(({ body }) => Effect.map(readMetadataAnswer(body), (seen) => ({ body, seen }))),
  );

const textOf = (pairs: Pairs): string =>
  JSON.stringify(Object.entries(pairs).toSorted(([left], [right]) => (left < right ? -1 : 1)));

/** Whether the present record is as wished: the change of an earlier run, whose answer was lost, or of somebody else. */
const isThere = ({ change, revision }: Wish, { metadata, metadataRevision }: MetadataAnswer): boolean =>
  textOf(change(metadata)) === textOf(metadata) && (revision === undefined || metadataRevision === revision + 1);

const conflict = (problem: CliFailure["problem"], present: Present | undefined): CliFailure => {
  const now =
    present === undefined
      ? ""
      : `; it is at revision ${present.seen.metadataRevision} now, with ${JSON.stringify(present.seen.metadata)}`;
  return new CliFailure({
    kind: "conflict",
    message: `the approver was changed by somebody else${now}`,
    hint: "look at it (custody approvers get REF), and run the command again if it is still right",
    problem,
    current: present?.body,
  });
};

type Done = readonly [what: "Replaced" | "Unchanged", present: Present];

/** After a 412: the record as it is now; a caller who may not read is told just that somebody changed it. */
const afterConflict = (service: Service, path: string, wish: Wish, failure: CliFailure) =>
  Effect.gen(function* () {
    const present = yield* Effect.orElseSucceed(read(service, path), () => undefined);
    if (present !== undefined && isThere(wish, present.seen)) return ["Unchanged", present] as Done;
    return yield* conflict(failure.problem, present);
  });

const replace = (service: Service, wish: Wish): Effect.Effect<Done, CliFailure> =>
  Effect.gen(function* () {
    const path = yield* pathOf(wish.ref);
    const { change, needsPresent, revision } = wish;
    const present = revision !== undefined && !needsPresent ? undefined : yield* read(service, path);
    if (present !== undefined && isThere(wish, present.seen)) return ["Unchanged", present];
    const base = { metadata: {}, metadataRevision: revision ?? 1, ...present?.seen };
    const ifMatch = revision ?? base.metadataRevision;
    if (base.metadataRevision !== ifMatch) return yield* conflict(undefined, present);
    const metadata = change(base.metadata);
    const call = { method: "PUT", path: `${path}/metadata`, body: { metadata }, ifMatch } as const;
    const answered = service.call(call).pipe(
      Effect.flatMap(({ body }) => Effect.map(readReplacedAnswer(body), (seen) => ({ body, seen }))),
      Effect.map((replaced): Done => ["Replaced", replaced]),
    );
    return yield* Effect.catchIf(
      answered,
      ({ problem }) => problem?.code === "PRECONDITION_FAILED",
      (failure) => afterConflict(service, path, wish, failure),
    );
  });

const run = (wish: Wish, settings: ServiceSettings, json: boolean) =>
  Effect.gen(function* () {
    yield* pathOf(wish.ref);
    const [what, { body, seen }] = yield* replace(yield* serviceOf(settings, process.env), wish);
    yield* printResult({ json, headline: `${what}: ${seen.ref} is at revision ${seen.metadataRevision}`, value: body });
  }).pipe(Effect.scoped);

const revisionOption = Options.integer("revision").pipe(
  Options.withPseudoName("N"),
  Options.filterMap(
    (revision) => (revision >= 1 && Number.isSafeInteger(revision) ? Option.some(revision) : Option.none()),
    "--revision must be the metadataRevision of a record, from 1",
  ),
  Options.withDescription(
    "Replace this revision only. Default: the one that is read first, which takes service.approvers.read.",
  ),
  Options.optional,
  Options.map(Option.getOrUndefined),
);

const outcomes =
  "Ends with 5, and says what there is now, where somebody else was faster; repeating the same command is harmless.";

const set = Command.make(
  "set",
  {
    ref: refArgument,
    pairs: Args.text({ name: "key=value" }).pipe(
      Args.withDescription("The pairs there are to be; all others go."),
      Args.repeated,
    ),
    merge: Options.boolean("merge").pipe(Options.withDescription("Keep the pairs that are not named.")),
    remove: Options.text("remove").pipe(
      Options.withPseudoName("KEY"),
      Options.withDescription("Remove this pair and keep those that are not named; may be repeated."),
      Options.repeated,
      Options.withDefault<ReadonlyArray<string>>([]),
    ),
    revision: revisionOption,
    service: serviceOptions,
    json: jsonOption,
  },
  ({ ref, pairs, merge, remove, revision, service, json }) =>
    Effect.gen(function* () {
      const named = yield* pairsOf(pairs, "pair");
      if (pairs.length + remove.length === 0)
        return yield* usageFailure("no pair is given; to remove them all, use custody approvers metadata clear");
      const both = remove.findIndex((key) => Object.hasOwn(named, key));
      if (both !== -1) return yield* usageFailure(`--remove ${both + 1} is among the pairs; keep one of them`);
      const needsPresent = merge || remove.length > 0;
      const change = (present: Pairs): Pairs => {
        if (!needsPresent) return named;
        const kept = Object.entries(present).filter(([key]) => !remove.includes(key));
        return { ...Object.fromEntries(kept), ...named };
      };
      yield* run({ ref, change, needsPresent, revision }, service, json);
    }),
).pipe(Command.withDescription(`Replace all metadata of one approver version. ${outcomes}`));

const clear = Command.make(
  "clear",
  { ref: refArgument, revision: revisionOption, service: serviceOptions, json: jsonOption },
  ({ ref, revision, service, json }) => run({ ref, change: () => ({}), needsPresent: false, revision }, service, json),
).pipe(Command.withDescription(`Remove all metadata of one approver version. ${outcomes}`));

export const metadata = Command.make("metadata").pipe(
  Command.withDescription("Replace or remove the metadata of an approver."),
  Command.withSubcommands([set, clear]),
);
