/** Standard input, read once and only as far as a command can use it. */
import { Effect } from "effect";
import { type CliFailure, usageFailure } from "./CliFailure.ts";

const collect = async (maxBytes: number): Promise<Uint8Array | undefined> => {
  const chunks: Array<Uint8Array> = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    if (!(chunk instanceof Uint8Array)) return undefined;
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** All of standard input; fails when it is a terminal, cannot be read, or is longer than `maxBytes`. */
export const readStandardInput = (what: string, maxBytes: number): Effect.Effect<Uint8Array, CliFailure> =>
  Effect.gen(function* () {
    if (process.stdin.isTTY) {
      return yield* usageFailure(`${what} was to come from standard input, which is the terminal; redirect a file`);
    }
    const bytes = yield* Effect.tryPromise({
      try: () => collect(maxBytes),
      catch: () => usageFailure(`${what} cannot be read from standard input; redirect a file`),
    });
    if (bytes === undefined) {
      return yield* usageFailure(`${what} on standard input is longer than ${maxBytes} bytes; name the right file`);
    }
    return bytes;
  });
