/** Unseal shares as an operator gives them: typed without echo, or one per line on standard input. */
import * as Prompt from "@effect/cli/Prompt";
import * as Terminal from "@effect/platform/Terminal";
import * as NodeTerminal from "@effect/platform-node/NodeTerminal";
import { Effect, Redacted } from "effect";
import type { Verifying } from "./AwaitVerified.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";
import { readStandardInput } from "./StandardInput.ts";

/** 255 shares is the most there can be; a share is 68 characters. */
const maxBytes = 32 * 1024;
const shareShape = /^[A-Za-z0-9+/=]{1,128}$/;

/** Asks for one share at the terminal, without echo. Ctrl-C interrupts, the end of the input gives up. */
export const promptForShare = (
  label: string,
): Effect.Effect<string, CliFailure | Terminal.QuitException, Prompt.Prompt.Environment> =>
  Effect.gen(function* () {
    let isInterrupted = false;
    // The library takes both keys for the same.
    const terminal = yield* NodeTerminal.make(({ key: { ctrl, name } }) => {
      isInterrupted = ctrl && name === "c";
      return isInterrupted || (ctrl && name === "d");
    });
    return yield* Prompt.run(Prompt.hidden({ message: label })).pipe(
      Effect.provideService(Terminal.Terminal, terminal),
      Effect.catchTag("QuitException", (quit) => (isInterrupted ? Effect.interrupt : Effect.fail(quit))),
    );
  }).pipe(
    Effect.scoped,
    Effect.map((share) => Redacted.value(share).trim()),
    Effect.filterOrFail(
      (share) => shareShape.test(share),
      () => usageFailure("what was typed is not a share; a share is one line of Base64, as init printed it"),
    ),
  );

/** The shares on standard input, one per line. */
export const sharesOnInput = readStandardInput("the unseal shares", maxBytes).pipe(
  Effect.flatMap((bytes) => {
    const lines = new TextDecoder().decode(bytes).split(/\r?\n/);
    const shares = lines.map((line) => line.trim()).filter((line) => line !== "");
    if (shares.length === 0) {
      return Effect.fail(usageFailure("standard input holds no share; give one per line, as init printed them"));
    }
    const malformed = shares.findIndex((share) => !shareShape.test(share));
    return malformed === -1
      ? Effect.succeed(shares)
      : Effect.fail(usageFailure(`share ${malformed + 1} on standard input is not one line of Base64`));
  }),
);

interface Collected {
  readonly have: number;
  readonly need: number;
}

/** The result of handing in one share. A peer that is unsealed does not tell everybody how many shares it took. */
export type UnsealStep = { readonly verifying?: Verifying } & (
  | (Collected & { readonly state: "SEALED" })
  | (Partial<Collected> & { readonly state: "UNSEALED" })
);

/**
 * Hands in one share from the terminal, or those on standard input until the peer is unsealed.
 *
 * @param submit hands in one share
 * @param have shares that are in, of how many, before the first of these; undefined where that is not known
 * @param isAlone whether one person types all shares
 * @returns the last step
 */
export const submitShares = <E, R>(
  submit: (share: string) => Effect.Effect<UnsealStep, E, R>,
  before: Collected | undefined,
  isAlone: boolean,
): Effect.Effect<UnsealStep, E | CliFailure | Terminal.QuitException, R | Prompt.Prompt.Environment> =>
  Effect.gen(function* () {
    if (process.stdin.isTTY) {
      const label = (progress: typeof before): string =>
        progress === undefined ? "Unseal share" : `Unseal share (${progress.have} of ${progress.need} are in)`;
      let step = yield* submit(yield* promptForShare(label(before)));
      if (!isAlone) return step;
      while (step.state === "SEALED") step = yield* submit(yield* promptForShare(label(step)));
      return step;
    }
    let last: UnsealStep | undefined;
    for (const share of yield* sharesOnInput) {
      last = yield* submit(share);
      if (last.state === "UNSEALED") return last;
    }
    return last ?? (yield* usageFailure("standard input holds no share; give one per line"));
  });
