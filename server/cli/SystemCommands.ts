/** `custody init | unseal | seal | restore | status`: the operator's ceremony, one peer at a time. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect } from "effect";
import { readInitAnswer, readRestoreAnswer, readRotateAnswer, readStatusAnswer, readUnsealAnswer } from "./Answers.ts";
import { awaitVerified, progressText } from "./AwaitVerified.ts";
import { CliFailure } from "./CliFailure.ts";
import { printErrorLines, printLines, printResult } from "./Output.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";
import { submitShares } from "./UnsealShares.ts";

const wholeNumber = (name: string, description: string) =>
  Options.integer(name).pipe(Options.withDescription(description), Options.withPseudoName("N"));

const shareLines = (answer: Effect.Effect.Success<ReturnType<typeof readInitAnswer>>): ReadonlyArray<string> => [
  `Peer ${answer.peerId} is initialized (threshold ${answer.threshold} of ${answer.total} peers).`,
  "",
  `Its ${answer.shares64.length} unseal shares; any ${answer.sharesNeeded} of them unseal it. They are shown this once:`,
  "",
  ...answer.shares64.map((share, index) => `  share ${index + 1}: ${share}`),
  "",
  "Give each share to a different person and keep them apart from backups of the database.",
];

const init = Command.make(
  "init",
  {
    peerId: wholeNumber("peer-id", "This peer's number in the cluster, from 1; every peer has its own."),
    threshold: wholeNumber("threshold", "Peers a key operation takes; the same at every peer. 1 only when total is 1."),
    total: wholeNumber("total", "Peers of the cluster; the same at every peer."),
    service: serviceOptions,
    json: jsonOption,
  },
  ({ peerId, threshold, total, service, json }) =>
    Effect.gen(function* () {
      const { call } = yield* serviceOf(service, process.env);
      const body = { peerId, threshold, total };
      const answer = yield* call({ method: "POST", path: "/v1/custody/system/init", body });
      if (json) return yield* printResult({ json, value: answer.body });
      yield* printLines(shareLines(yield* readInitAnswer(answer.body)));
    }).pipe(Effect.scoped),
).pipe(Command.withDescription("Initialize one peer and print its unseal shares, once."));

const unseal = Command.make("unseal", { service: serviceOptions, json: jsonOption }, ({ service, json }) =>
  Effect.gen(function* () {
    const { call } = yield* serviceOf(service, process.env);
    const step = yield* submitShares((share64) =>
      call({ method: "POST", path: "/v1/custody/system/unseal", body: { share64 } }).pipe(
        Effect.flatMap(({ body }) => readUnsealAnswer(body)),
        Effect.tap(({ have, need, state }) =>
          json || state === "UNSEALED" ? Effect.void : printErrorLines([`share accepted, ${have} of ${need}`]),
        ),
      ),
    );
    if (step.verifying !== undefined) {
      yield* printErrorLines(["The shares are complete. The peer takes part once its records are verified:"]);
      yield* awaitVerified({ call }, (progress) => printErrorLines([`  ${progressText(progress)}`]));
    }
    const { verifying: _, ...finished } = step;
    if (json) yield* printResult({ json, value: finished });
    if (step.state === "UNSEALED") return yield* json ? Effect.void : printLines(["The peer is unsealed."]);
    const missing = step.need - step.have;
    return yield* new CliFailure({
      kind: "refused",
      message: `the peer is still sealed: ${step.have} of ${step.need} shares are in`,
      hint: `run the same command with ${missing} more ${missing === 1 ? "share" : "shares"}; those handed in are kept`,
    });
  }).pipe(
    Effect.scoped,
    Effect.catchTag("QuitException", () =>
      Effect.fail(new CliFailure({ kind: "usage", message: "unsealing was given up at the prompt" })),
    ),
  ),
).pipe(
  Command.withDescription(
    "Unseal one peer. Shares are typed at a prompt, or come one per line from standard input; never as arguments.",
  ),
);

const seal = Command.make("seal", { service: serviceOptions, json: jsonOption }, ({ service, json }) =>
  Effect.gen(function* () {
    const { call } = yield* serviceOf(service, process.env);
    const { body } = yield* call({ method: "POST", path: "/v1/custody/system/seal", body: {} });
    yield* json ? printResult({ json, value: body }) : printLines(["The peer is sealed."]);
  }).pipe(Effect.scoped),
).pipe(Command.withDescription("Seal one peer: it forgets its private keys until it is unsealed."));

const restore = Command.make("restore", { service: serviceOptions, json: jsonOption }, ({ service, json }) =>
  Effect.gen(function* () {
    const { call } = yield* serviceOf(service, process.env);
    const { body } = yield* call({ method: "POST", path: "/v1/custody/system/restore", body: {} });
    if (json) return yield* printResult({ json, value: body });
    const { state } = yield* readRestoreAnswer(body);
    yield* printLines(
      state === "SEALED"
        ? [
            "The restore is declared. It begins when the peer is unsealed; if it is restarted before that, declare it again.",
          ]
        : [
            "The restore has begun. `custody status` shows under `recovering` what it waits for; changes wait for its end.",
          ],
    );
  }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Declare that one peer runs on an older disk: it takes the registry from the other members. Best before unsealing it.",
  ),
);

const rotateIntegrity = Command.make(
  "rotate-integrity",
  { service: serviceOptions, json: jsonOption },
  ({ service, json }) =>
    Effect.gen(function* () {
      const { call } = yield* serviceOf(service, process.env);
      const { body } = yield* call({ method: "POST", path: "/v1/custody/system/integrity/rotate", body: {} });
      const { integrityKeyVersion } = yield* readRotateAnswer(body);
      if (json) return yield* printResult({ json, value: body });
      yield* printLines([`What this peer stores from now on is sealed with its integrity key ${integrityKeyVersion}.`]);
    }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Give one unsealed peer a new integrity key for what it stores; what older keys sealed keeps its seals.",
  ),
);

const status = Command.make("status", { service: serviceOptions, json: jsonOption }, ({ service, json }) =>
  Effect.gen(function* () {
    const { call } = yield* serviceOf(service, process.env);
    const { body } = yield* call({ method: "GET", path: "/v1/custody/system/status" });
    yield* readStatusAnswer(body);
    yield* printResult({ json, value: body });
  }).pipe(Effect.scoped),
).pipe(Command.withDescription("Show the state of one peer; details with the permission service.control.system."));

export const systemCommands = [init, unseal, seal, restore, rotateIntegrity, status] as const;
