/** The console of the command-line library: colors only where a terminal shows them, and every line handed over. */
import { stripVTControlCharacters } from "node:util";
import { Effect } from "effect";
import { helpLines } from "./HelpLines.ts";

const colored = (stream: NodeJS.WriteStream): boolean => stream.isTTY && (process.env["NO_COLOR"] ?? "") === "";

const line =
  (stream: NodeJS.WriteStream, words: ReadonlyArray<string>) =>
  (...parts: ReadonlyArray<unknown>): Effect.Effect<void> =>
    Effect.async<void>((resume) => {
      const text = parts.map(String).join(" ");
      stream.write(`${helpLines(colored(stream) ? text : stripVTControlCharacters(text), words)}\n`, () =>
        resume(Effect.void),
      );
    });

/**
 * Runs an effect whose `Console.log` and `Console.error` write that way.
 *
 * @param isJson leaves out what goes to `Console.error`: the parser's words for people, which the failure holds too
 * @param words the arguments before the first option, which help is about
 */
export const withPlainConsole =
  (isJson: boolean, words: ReadonlyArray<string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.consoleWith((current) =>
      Effect.withConsole(effect, {
        ...current,
        log: line(process.stdout, words),
        error: isJson ? () => Effect.void : line(process.stderr, words),
      }),
    );
