/** `custody promote` and `custody promote status`: an instance that is alone becomes a cluster. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { type PromotionAnswer, readPromotionAnswer } from "./Answers.ts";
import { CliFailure, usageFailure } from "./CliFailure.ts";
import { printable, printLines, printResult } from "./Output.ts";
import { readPlanFile } from "./PromotionPlanFile.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";
import type { Service } from "./ServiceClient.ts";

const PATH = "/v1/custody/system/promotion";
const POLL_MILLIS = 500;
const WIDTH = 30;

type Promotion = NonNullable<PromotionAnswer["promotion"]>;

const list = (peerIds: ReadonlyArray<number>): string => (peerIds.length === 0 ? "none yet" : peerIds.join(", "));

/** How much of the registry is here, at a target that takes it. */
const barOf = ({ here, approvers }: Promotion): string => {
  const part = approvers === 0 ? 1 : Math.min(1, here / approvers);
  const filled = Math.floor(part * WIDTH);
  return `[${"#".repeat(filled)}${".".repeat(WIDTH - filled)}] ${here} of ${approvers} approvers`;
};

const meaning: { readonly [S in Promotion["stage"]]: string } = {
  PINNED: "pinned: changes are refused until it is done, reads go on",
  DECIDED: "decided: the new cluster has begun, and its members take the registry",
  DONE: "done",
  ACCEPTED: "accepted: this peer is bound to it",
  INSTALLING: "this peer takes the registry",
  INSTALLED: "done: the registry is here",
};

/** What an operator can do about what is waited for. */
const nextOf = ({ role, stage, waitsFor, refused }: Promotion): ReadonlyArray<string> => {
  if (refused.length > 0) return ["next: put right what the targets name; they are asked again by themselves"];
  if (stage === "DONE" || stage === "INSTALLED") return [];
  if (role === "target") return ["next: keep the source running and unsealed"];
  return waitsFor === ""
    ? []
    : ["next: see that the named peers run, are unsealed and reach this one; nothing needs to be repeated"];
};

/** A promotion in lines for people. */
export const promotionLines = (promotion: Promotion): ReadonlyArray<string> => {
  const { role, stage, transferId, source, members, threshold, accepted, installed, refused, waitsFor } = promotion;
  return [
    `Promotion of peer ${source} to the cluster of peers ${members.join(", ")}, of which ${threshold} sign: ${meaning[stage]}.`,
    `  transfer: ${transferId}`,
    ...(role === "source"
      ? [`  accepted: ${list(accepted)}`, `  installed: ${list(installed)}`]
      : [`  ${barOf(promotion)}`]),
    ...refused.map(({ peerId, reason }) => `  peer ${peerId} refuses: ${reason}`),
    ...(waitsFor === "" ? [] : [`  waits for: ${waitsFor}`]),
    ...nextOf(promotion).map((line) => `  ${line}`),
  ].map(printable);
};

const isDone = ({ stage }: Promotion): boolean => stage === "DONE" || stage === "INSTALLED";

const ask = ({ call }: Service) =>
  Effect.flatMap(call({ method: "GET", path: PATH }), ({ body }) =>
    Effect.map(readPromotionAnswer(body), ({ promotion }) => ({ body, promotion })),
  );

const nothingHere = new CliFailure({
  kind: "refused",
  message: "this peer is neither the source nor a target of a promotion",
  hint: "custody promote --config PLAN begins one at an instance that is alone",
});

/** Looks until it is done. What is waited for is told whenever it changes. */
const follow = (service: Service, json: boolean) =>
  Effect.gen(function* () {
    let told = "";
    for (;;) {
      const { body, promotion } = yield* ask(service);
      if (promotion === null) return yield* nothingHere;
      if (isDone(promotion))
        return yield* json ? printResult({ json, value: body }) : printLines(promotionLines(promotion));
      const lines = promotionLines(promotion);
      if (!json && lines.join() !== told) yield* printLines(lines);
      told = lines.join();
      yield* Effect.sleep(POLL_MILLIS);
    }
  });

const waitOption = Options.boolean("wait").pipe(Options.withDescription("Look again until it is done."));

const status = Command.make(
  "status",
  { wait: waitOption, service: serviceOptions, json: jsonOption },
  ({ wait, service: settings, json }) =>
    Effect.gen(function* () {
      const service = yield* serviceOf(settings, process.env);
      if (wait) return yield* follow(service, json);
      const { body, promotion } = yield* ask(service);
      if (promotion === null) return yield* nothingHere;
      yield* json ? printResult({ json, value: body }) : printLines(promotionLines(promotion));
    }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "How far a promotion is, who has accepted it, what it waits for and what to do; at the source, or at a target.",
  ),
);

export const promoteCommand = Command.make(
  "promote",
  {
    config: Options.text("config").pipe(
      Options.withPseudoName("FILE"),
      Options.withDescription("The plan in YAML: threshold, total, and targets with peer-id, url and identity-key."),
      Options.optional,
      Options.map(Option.getOrUndefined),
    ),
    dryRun: Options.boolean("dry-run").pipe(
      Options.withDescription("Ask the targets and say what is in the way; nothing is changed anywhere."),
    ),
    wait: waitOption,
    service: serviceOptions,
    json: jsonOption,
  },
  ({ config, dryRun, wait, service: settings, json }) =>
    Effect.gen(function* () {
      if (config === undefined) return yield* usageFailure("no plan is named; give --config FILE");
      if (dryRun && wait) return yield* usageFailure("--dry-run and --wait do not go together; leave one out");
      const plan = yield* readPlanFile(config);
      const service = yield* serviceOf(settings, process.env);
      const { body } = yield* service.call({
        method: "POST",
        path: PATH,
        body: { ...plan, ...(dryRun ? { dryRun } : {}) },
      });
      if (wait) return yield* follow(service, json);
      if (json) return yield* printResult({ json, value: body });
      const { promotion } = yield* readPromotionAnswer(body);
      if (promotion !== null) return yield* printLines(promotionLines(promotion));
      yield* printLines(["Nothing is in the way: every target would accept. Nothing was changed."]);
    }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Make an instance that is alone a cluster, with everything it holds. Once pinned it is retried until it is done; repeating the same command is harmless.",
  ),
  Command.withSubcommands([status]),
);
