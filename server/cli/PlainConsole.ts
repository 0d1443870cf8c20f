/** The console of the command-line library: colors only where a terminal shows them, and every line handed over. */
import { stripVTControlCharacters } from "node:util";
import { Effect } from "effect";
import { helpLines } from "./HelpLines.ts";
import { printLines } from "./Output.ts";

const colored = (stream: NodeJS.WriteStream): boolean => stream.isTTY && (process.env["NO_COLOR"] ?? "") === "";

const textFor = (stream: NodeJS.WriteStream, words: ReadonlyArray<string>, parts: ReadonlyArray<unknown>): string => {
  const text = parts.map(String).join(" ");
  return helpLines(colored(stream) ? text : stripVTControlCharacters(text), words);
};

/**
 * Runs an effect whose `Console.log` writes that way. `Console.error` gets only what the parser says of a failure that
 * it ends with (UsageError.ts).
 *
 * @param words the arguments before the first option, which help is about
 */
export const withPlainConsole =
  (words: ReadonlyArray<string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.consoleWith((current) =>
      Effect.withConsole(effect, {
        ...current,
        // A console cannot fail, and a help that nobody gets must not end as if it had been given.
        log: (...parts) => Effect.orDie(printLines([textFor(process.stdout, words, parts)])),
        error: () => Effect.void,
      }),
    );
