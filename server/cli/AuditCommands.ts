/** `custody audit export | verify`. */
import * as Args from "@effect/cli/Args";
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Either, Option, Schedule } from "effect";
import type { Digest } from "../../core/base/Digest.ts";
import type { AuditChain, ChainPlace } from "../audit/AuditChain.ts";
import { type AuditPage, readAuditAnswer } from "./Answers.ts";
import { faultInFile, openLines } from "./AuditFile.ts";
import { CliFailure, usageFailure } from "./CliFailure.ts";
import { jsonLine, printErrorLines, printResult } from "./Output.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";
import type { Service } from "./ServiceClient.ts";

const PAGE_EVENTS = 1000;
const FOLLOW_MILLIS = 1_000;
/** How long a peer that is away, or sealed, is left alone. */
const AWAY_MILLIS = 5_000;

/** Loaded on demand: nothing else on the command line computes hashes. */
const openChain = (after: ChainPlace | undefined): Effect.Effect<AuditChain> =>
  Effect.promise(async () => {
    const { AuditChain: Chain } = await import("../audit/AuditChain.ts");
    const { cryptoOf } = await import("../../runtime/CryptoPrimitives.ts");
    const { nativePrimitives } = await import("../crypto/NativeCrypto.ts");
    return new Chain(cryptoOf(nativePrimitives), after);
  });

const broken = (where: string): CliFailure =>
  new CliFailure({
    kind: "refused",
    message: `the audit does not hold: ${where}`,
    hint: 'keep what you have as evidence; see docs/operations.md, "The audit"',
  });

const placeText = ({ seq, hash }: ChainPlace): string => `${seq}:${hash ?? ""}`;

const auditPage = ({ call }: Service, since: number, limit: number): Effect.Effect<AuditPage, CliFailure> =>
  Effect.flatMap(call({ method: "GET", path: `/v1/custody/audit?since=${since}&limit=${limit}` }), ({ body }) =>
    readAuditAnswer(body),
  );

const takeAll = (chain: AuditChain, { events }: AuditPage): Effect.Effect<void, CliFailure> =>
  Effect.suspend(() => {
    for (const event of events) {
      const fault = chain.take(event);
      if (fault !== undefined) return Effect.fail(broken(fault));
    }
    return Effect.void;
  });

/** A peer whose audit ends before what was taken from it has lost some, or is another one. */
const notBehind = ({ peerId, head }: AuditPage, { seq }: ChainPlace): Effect.Effect<void, CliFailure> =>
  head.seq >= seq
    ? Effect.void
    : broken(
        `the audit of peer ${peerId} ends at sequence ${head.seq}, before sequence ${seq}: its disk is an older one`,
      );

const wholeNumber = (name: string, pseudoName: string, description: string) =>
  Options.integer(name).pipe(Options.withPseudoName(pseudoName), Options.withDescription(description));

const exportOptions = {
  since: wholeNumber("since", "SEQ", "The sequence number to begin with.").pipe(Options.withDefault(1)),
  limit: wholeNumber("limit", "N", "The most events; all there are unless given.").pipe(
    Options.optional,
    Options.map(Option.getOrUndefined),
  ),
  follow: Options.boolean("follow").pipe(
    Options.withDescription("Go on with new events until interrupted, also past a restart of the peer."),
  ),
  out: Options.text("out").pipe(
    Options.withPseudoName("FILE"),
    Options.withDescription("A new file for this user alone, instead of standard output."),
    Options.optional,
    Options.map(Option.getOrUndefined),
  ),
  service: serviceOptions,
};

/** The next page; while following, a peer that cannot answer for now is asked until it can. */
const nextPage = (service: Service, since: number, limit: number, isFollowing: boolean) => {
  const asked = auditPage(service, since, limit);
  const isAway = ({ kind, problem }: CliFailure): boolean => kind === "unreachable" || problem?.retryable === true;
  if (!isFollowing) return asked;
  return Effect.catchIf(asked, isAway, ({ message, problem }) =>
    printErrorLines([`custody: ${problem?.detail ?? message}; asking again every 5 s`]).pipe(
      Effect.zipRight(Effect.sleep(AWAY_MILLIS)),
      Effect.zipRight(Effect.retry(asked, { while: isAway, schedule: Schedule.spaced(AWAY_MILLIS) })),
    ),
  );
};

const exported = Command.make("export", exportOptions, ({ since, limit, follow, out, service: settings }) =>
  Effect.gen(function* () {
    if (since < 1) return yield* usageFailure("--since is not a sequence number; they begin with 1");
    if (limit !== undefined && limit < 1) return yield* usageFailure("--limit is less than 1");
    const service = yield* serviceOf(settings, process.env);
    const chain = yield* openChain(since === 1 ? undefined : { seq: since - 1, hash: undefined });
    const first = yield* auditPage(service, since, Math.min(limit ?? PAGE_EVENTS, PAGE_EVENTS));
    const output = yield* openLines(out);
    for (let page = first; ; ) {
      yield* notBehind(page, chain.last);
      yield* takeAll(chain, page);
      yield* output.write(page.events.map(jsonLine));
      const left = (limit ?? Number.POSITIVE_INFINITY) - chain.events;
      if (left <= 0 || output.isClosed()) break;
      if (page.next > page.head.seq) {
        if (!follow) break;
        yield* Effect.sleep(FOLLOW_MILLIS);
      }
      page = yield* nextPage(service, chain.last.seq + 1, Math.min(left, PAGE_EVENTS), follow);
    }
    if (out !== undefined) yield* printErrorLines([`${chain.events} events, up to ${placeText(chain.last)}`]);
  }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Write the audit of one peer as CloudEvents, one JSON text a line, each checked on its way. Needs service.audit.read.",
  ),
);

const placeOption = (name: string, description: string) =>
  Options.text(name).pipe(
    Options.withPseudoName("SEQ:HASH"),
    Options.withDescription(description),
    Options.optional,
    Options.map(Option.getOrUndefined),
  );

const placeOf = (name: string, text: string | undefined): Either.Either<ChainPlace | undefined, CliFailure> => {
  if (text === undefined) return Either.right(undefined);
  const [, seq, hash] = /^([1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    return Either.left(usageFailure(`--${name} is not SEQ:HASH, as this command prints it`));
  return Either.right({
    seq: Number(seq),
    // The brand is the length.
    hash: hash as Digest,
  });
};

/** Goes on where the chain ends, to the newest event of the peer, and compares both ends. */
const verifyLive = (service: Service, chain: AuditChain): Effect.Effect<void, CliFailure> =>
  Effect.gen(function* () {
    for (;;) {
      const page = yield* auditPage(service, chain.last.seq + 1, PAGE_EVENTS);
      if (chain.peerId !== undefined && page.peerId !== chain.peerId)
        return yield* usageFailure(
          `the files are of peer ${chain.peerId}, and peer ${page.peerId} answered; give --url of peer ${chain.peerId}`,
        );
      yield* notBehind(page, chain.last);
      yield* takeAll(chain, page);
      if (chain.last.seq < page.head.seq && page.events.length > 0) continue;
      if (chain.last.seq === page.head.seq && chain.last.hash === page.head.hash) return;
      return yield* broken(`sequence ${chain.last.seq}: the peer has another event there`);
    }
  });

const verify = Command.make(
  "verify",
  {
    files: Args.text({ name: "file" }).pipe(
      Args.withDescription("Exported files, oldest first, as one chain; - for standard input."),
      Args.repeated,
    ),
    live: Options.boolean("live").pipe(
      Options.withDescription(
        "Go on at the peer, from the end of the files or from the beginning, to its newest event.",
      ),
    ),
    after: placeOption(
      "after",
      "What the first event follows, where older ones are gone: its own sequence less one, and its prevHash as noted elsewhere.",
    ),
    until: placeOption("until", "The event that must be the last; without it a file may lack its end."),
    service: serviceOptions,
    json: jsonOption,
  },
  ({ files, live, after, until, service: settings, json }) =>
    Effect.gen(function* () {
      if (files.length === 0 && !live) return yield* usageFailure("nothing to verify; name files, or give --live");
      const chain = yield* openChain(yield* placeOf("after", after));
      const end = yield* placeOf("until", until);
      for (const file of files) {
        const fault = yield* faultInFile(file, (value) => chain.take(value));
        if (fault !== undefined) return yield* broken(fault);
      }
      if (live) yield* verifyLive(yield* serviceOf(settings, process.env), chain);
      const { last, events, repeated, peerId, integrityKeyVersions } = chain;
      if (last.seq === 0) return yield* broken("there is no event, and no audit is without one");
      if (end !== undefined && placeText(end) !== placeText(last))
        return yield* broken(`it ends with ${placeText(last)}, and not with what --until says`);
      const value = { peerId, events, repeated, last: placeText(last), integrityKeyVersions };
      yield* printResult({ json, headline: "The audit is whole.", value });
    }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Prove exported files, or the audit of a peer, to be one unbroken chain, or name the first break and end with 1.",
  ),
);

export const auditCommands = Command.make("audit").pipe(
  Command.withDescription("Export and verify what a peer has recorded of every change and every operator."),
  Command.withSubcommands([exported, verify]),
);
