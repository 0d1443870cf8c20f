/** `custody init | unseal | rekey | seal | rotate-integrity`: the operator's ceremony, one peer at a time. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { readBoundedText } from "../config/BoundedFile.ts";
import { readInitAnswer, readRekeyAnswer, readRotateAnswer, readStatusAnswer, readUnsealAnswer } from "./Answers.ts";
import { awaitVerified, progressText } from "./AwaitVerified.ts";
import { CliFailure, usageFailure } from "./CliFailure.ts";
import { printErrorLines, printLines, printResult } from "./Output.ts";
import { STATUS_PATH } from "./PeerStatus.ts";
import type { Service } from "./ServiceClient.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";
import { promptForShare, sharesOnInput, submitShares, type UnsealStep } from "./UnsealShares.ts";

const wholeNumber = (name: string, description: string) =>
  Options.integer(name).pipe(Options.withDescription(description), Options.withPseudoName("N"));

interface ShownShares {
  readonly shares64: ReadonlyArray<string>;
  readonly encryptedShares: ReadonlyArray<{ readonly recipient: string; readonly share: string }>;
}

const shareLines = ({ shares64, encryptedShares }: ShownShares): ReadonlyArray<string> => [
  ...shares64.map((share, index) => `  share ${index + 1}: ${share}`),
  ...encryptedShares.flatMap(({ recipient, share }, index) => [
    `  share ${index + 1}, for ${recipient}:`,
    ...share.trimEnd().split(/\r?\n/),
  ]),
  "",
  "Give each share to a different person and keep them apart from backups of the database.",
];

/** Says what becomes of shares that could not be shown: nobody can ask for them again. */
const orLost = (printed: Effect.Effect<void, CliFailure>, hint: string): Effect.Effect<void, CliFailure> =>
  Effect.mapError(printed, ({ message }) => new CliFailure({ kind: "unwritten", message, hint }));

const initLines = (answer: Effect.Effect.Success<ReturnType<typeof readInitAnswer>>): ReadonlyArray<string> => [
  `Peer ${answer.peerId} is initialized (threshold ${answer.threshold} of ${answer.total} peers).`,
  "",
  `Its ${answer.shares64.length + answer.encryptedShares.length} unseal shares; any ${answer.sharesNeeded} of them unseal it. They are shown this once:`,
  "",
  ...shareLines(answer),
  "Then each holder runs custody unseal with the URL of this peer, until it is unsealed.",
];

const recipientOption = Options.text("recipient").pipe(
  Options.withPseudoName("FILE"),
  Options.withDescription(
    "File with a holder's public key, age (age1...) or PGP (armored); one for each share, which is then encrypted to it.",
  ),
  Options.repeated,
  // As the parser has it anyway; stated, so that help shows it.
  Options.withDefault([]),
);

/** The keys in the named files, as they are. */
const recipientsIn = (files: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>, CliFailure> =>
  Effect.forEach(files, (file) =>
    Effect.mapError(readBoundedText(file, { maxBytes: 32 * 1024, secret: false }), ({ message }) =>
      usageFailure(`--recipient: ${message}`),
    ),
  );

const many = (count: number, noun: string): string => `${count} more ${noun}${count === 1 ? "" : "s"}`;

const init = Command.make(
  "init",
  {
    peerId: wholeNumber("peer-id", "This peer's number in the cluster, from 1; every peer has its own."),
    threshold: wholeNumber("threshold", "Peers a key operation takes; the same at every peer. 1 only when total is 1."),
    total: wholeNumber("total", "Peers of the cluster; the same at every peer."),
    recipients: recipientOption,
    join: Options.boolean("join").pipe(
      Options.withDescription(
        "This peer waits to become a member by the promotion of the instance that cluster.source of its configuration names.",
      ),
    ),
    service: serviceOptions,
    json: jsonOption,
  },
  ({ peerId, threshold, total, recipients: files, join, service, json }) =>
    Effect.gen(function* () {
      const { call } = yield* serviceOf(service, process.env);
      const recipients = yield* recipientsIn(files);
      const joining = join ? { join } : {};
      const body = { peerId, threshold, total, ...joining, ...(recipients.length === 0 ? {} : { recipients }) };
      const answer = yield* call({
        method: "POST",
        path: "/v1/custody/system/init",
        body,
        lookFirst:
          "look at custody status: once it is SEALED, or after a minute, repeat the command; of the shares only those of the last answer unseal it",
      });
      const lines = json ? [] : initLines(yield* readInitAnswer(answer.body));
      yield* orLost(
        json ? printResult({ json, value: answer.body }) : printLines(lines),
        "the peer is initialized, and its shares are lost: repeat the command, which makes new ones until the first unseal",
      );
    }).pipe(Effect.scoped),
).pipe(Command.withDescription("Initialize one peer and print its unseal shares, once."));

const UNSEAL_PATH = "/v1/custody/system/unseal";

const unsealOptions = {
  several: Options.boolean("several").pipe(
    Options.withDescription("Ask for one share after the other, where one person has them all."),
  ),
  reset: Options.boolean("reset").pipe(
    Options.withDescription("Forget the shares that were handed in, and hand in none."),
  ),
  service: serviceOptions,
  json: jsonOption,
};

/** What was asked for was done, and could not be recorded. */
const isUnaudited = ({ problem }: CliFailure): boolean => problem?.code === "AUDIT_UNAVAILABLE";

/** How far the unseal is with a share that is in, though its holder got no answer that says so. */
const takenUnaudited = (call: Service["call"], failure: CliFailure): Effect.Effect<UnsealStep, CliFailure> =>
  Effect.gen(function* () {
    const { body } = yield* call({ method: "GET", path: STATUS_PATH });
    const { state, unsealing, verifying } = yield* readStatusAnswer(body);
    const step: UnsealStep | undefined =
      state === "UNSEALED"
        ? { state, ...unsealing, ...(verifying === undefined ? {} : { verifying }) }
        : state === "SEALED" && unsealing !== undefined
          ? { state, ...unsealing }
          : undefined;
    if (step === undefined) return yield* failure;
    yield* printErrorLines([
      'the share is taken, and the peer cannot record by whom: see docs/operations.md, "The audit"',
    ]);
    return step;
  });

const unseal = Command.make("unseal", unsealOptions, ({ several, reset, service, json }) =>
  Effect.gen(function* () {
    const { call } = yield* serviceOf(service, process.env);
    if (reset) {
      const { body } = yield* call({ method: "POST", path: UNSEAL_PATH, body: { reset: true } });
      return yield* json ? printResult({ json, value: body }) : printLines(["The shares handed in are forgotten."]);
    }
    // A person who types is shown the progress before the first share.
    const before = process.stdin.isTTY
      ? (yield* Effect.flatMap(call({ method: "GET", path: STATUS_PATH }), ({ body }) => readStatusAnswer(body)))
          .unsealing
      : undefined;
    const submit = (share64: string) =>
      call({ method: "POST", path: UNSEAL_PATH, body: { share64 } }).pipe(
        Effect.flatMap(({ body }) => readUnsealAnswer(body)),
        Effect.catchIf(isUnaudited, (failure) => takenUnaudited(call, failure)),
        Effect.tap((taken) =>
          json || taken.state === "UNSEALED"
            ? Effect.void
            : printErrorLines([`share accepted, ${taken.have} of ${taken.need}`]),
        ),
      );
    const step = yield* submitShares(submit, before, several);
    if (step.verifying !== undefined) {
      yield* printErrorLines(["The shares are complete. The peer takes part once its records are verified:"]);
      yield* awaitVerified({ call }, (progress) => printErrorLines([`  ${progressText(progress)}`]));
    }
    const { verifying: _, ...finished } = step;
    if (json) yield* printResult({ json, value: finished });
    if (step.state === "UNSEALED") return yield* json ? Effect.void : printLines(["The peer is unsealed."]);
    if (json) return;
    yield* printLines([
      `The peer is still sealed: ${step.have} of ${step.need} shares are in. It takes ${many(step.need - step.have, "share")}; their holders run the same command.`,
    ]);
  }).pipe(
    Effect.scoped,
    Effect.catchTag("QuitException", () =>
      Effect.fail(new CliFailure({ kind: "usage", message: "unsealing was given up at the prompt" })),
    ),
  ),
).pipe(
  Command.withDescription(
    "Hand in one unseal share of a peer, typed at a prompt; the last one unseals it. Or several, one per line from standard input; never as arguments.",
  ),
);

const REKEY_PATH = "/v1/custody/system/rekey";

/** What to do where the answer to a step of a rekey is lost: a repeated step is another one. */
const afterLost = {
  start: "look at custody status: under rekey it shows one that has begun",
  share:
    "throw no share away, and look at custody status: where rekey is at NEW_SHARES and nobody was shown them, run custody rekey --reset and begin again; else repeat the command, and the answer says which shares are in use",
} as const;

const rekeyOptions = {
  start: Options.boolean("start").pipe(Options.withDescription("Begin; then the holders hand in their shares.")),
  shares: wholeNumber(
    "new-shares",
    "With --start and --new-threshold: how many new shares. Default: as configured.",
  ).pipe(Options.optional),
  threshold: wholeNumber(
    "new-threshold",
    "With --start and --new-shares: how many of them unseal. Default: as configured.",
  ).pipe(Options.optional),
  recipients: recipientOption,
  reset: Options.boolean("reset").pipe(
    Options.withDescription("Give up a rekey that is under way; the present shares stay as they are."),
  ),
  service: serviceOptions,
  json: jsonOption,
};

const rekeyLines = (answer: Effect.Effect.Success<ReturnType<typeof readRekeyAnswer>>): ReadonlyArray<string> => {
  const missing = many(answer.need - answer.have, "share");
  if (answer.shares64.length + answer.encryptedShares.length > 0)
    return [
      "The new unseal shares, shown this once. They are not in use yet:",
      "",
      ...shareLines(answer),
      `Now ${answer.need} of their holders run the same command with a new share: only then do the present ones end.`,
    ];
  switch (answer.step) {
    case "NONE":
      return ["No rekey is under way. The present shares unseal the peer."];
    case "DONE":
      return [
        "The new shares unseal this peer from now on; those before them do not. Older backups still open by older shares.",
      ];
    case "PRESENT_SHARES":
      return [`${answer.have} of ${answer.need} present shares are in. It takes ${missing}, each by the same command.`];
    case "NEW_SHARES":
      return [`${answer.have} of ${answer.need} new shares are in. It takes ${missing}, each by the same command.`];
  }
};

const rekey = Command.make("rekey", rekeyOptions, ({ start, shares, threshold, recipients, reset, service, json }) =>
  Effect.gen(function* () {
    const numbers = { shares: Option.getOrUndefined(shares), threshold: Option.getOrUndefined(threshold) };
    const more = recipients.length > 0 || numbers.shares !== undefined || numbers.threshold !== undefined;
    if ((start && reset) || (more && !start))
      return yield* usageFailure(
        "--new-shares, --new-threshold and --recipient belong to --start; --reset stands alone",
      );
    const { call } = yield* serviceOf(service, process.env);
    const send = (body: unknown, lookFirst?: string) =>
      call({ method: "POST", path: REKEY_PATH, body, ...(lookFirst === undefined ? {} : { lookFirst }) });
    const hand = (share64: string) => send({ share64 }, afterLost.share);
    const tell = (body: unknown) =>
      Effect.gen(function* () {
        const lines = json ? [] : rekeyLines(yield* readRekeyAnswer(body));
        yield* orLost(
          json ? printResult({ json, value: body }) : printLines(lines),
          "new shares that were to be shown are lost, and the present ones still hold: rekey --reset, then begin again",
        );
      });
    if (reset) return yield* tell((yield* send({ reset: true })).body);
    if (start) {
      const keys = yield* recipientsIn(recipients);
      const given = Object.fromEntries(Object.entries(numbers).filter(([, value]) => value !== undefined));
      const body = { start: true, ...given, ...(keys.length === 0 ? {} : { recipients: keys }) };
      return yield* tell((yield* send(body, afterLost.start)).body);
    }
    if (!process.stdin.isTTY) {
      for (const share64 of yield* sharesOnInput) yield* tell((yield* hand(share64)).body);
      return;
    }
    const { body } = yield* call({ method: "GET", path: STATUS_PATH });
    const { rekey: under } = yield* readStatusAnswer(body);
    const which = under?.step === "NEW_SHARES" ? "New share, to confirm" : "Present unseal share";
    const progress = under === undefined ? "" : ` (${under.have} of ${under.need} are in)`;
    yield* tell((yield* hand(yield* promptForShare(`${which}${progress}`))).body);
  }).pipe(
    Effect.scoped,
    Effect.catchTag("QuitException", () =>
      Effect.fail(usageFailure("the rekey was left at the prompt; it goes on later")),
    ),
  ),
).pipe(
  Command.withDescription(
    "Make new unseal shares for the keys a peer has, when a holder leaves: --start, then the present shares, then enough of the new ones to confirm them. Until then nothing changes.",
  ),
);

const seal = Command.make("seal", { service: serviceOptions, json: jsonOption }, ({ service, json }) =>
  Effect.gen(function* () {
    const { call } = yield* serviceOf(service, process.env);
    const { body } = yield* call({ method: "POST", path: "/v1/custody/system/seal", body: {} });
    yield* json ? printResult({ json, value: body }) : printLines(["The peer is sealed."]);
  }).pipe(Effect.scoped),
).pipe(Command.withDescription("Seal one peer: it forgets its private keys until it is unsealed."));

const rotateIntegrity = Command.make(
  "rotate-integrity",
  { service: serviceOptions, json: jsonOption },
  ({ service, json }) =>
    Effect.gen(function* () {
      const { call } = yield* serviceOf(service, process.env);
      const { body } = yield* call({
        method: "POST",
        path: "/v1/custody/system/integrity/rotate",
        body: {},
        lookFirst:
          "look at integrityKeyVersion in custody status, or at custody audit export, before you repeat it: done twice, it makes two keys",
      });
      const { integrityKeyVersion } = yield* readRotateAnswer(body);
      if (json) return yield* printResult({ json, value: body });
      yield* printLines([`What this peer stores from now on is sealed with its integrity key ${integrityKeyVersion}.`]);
    }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Give one unsealed peer a new integrity key for what it stores; what older keys sealed keeps its seals.",
  ),
);

export const systemCommands = [init, unseal, rekey, seal, rotateIntegrity] as const;
