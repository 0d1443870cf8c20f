/** Where the caller's token comes from: a file, standard input or the environment, and never an argument. */
import { Effect, Redacted } from "effect";
import { readBoundedFile } from "../config/BoundedFile.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";
import { readStandardInput } from "./StandardInput.ts";

/** The longest token read; HTTP servers refuse longer headers. */
const maxBytes = 16 * 1024;

const checked = (text: string, source: string): Effect.Effect<Redacted.Redacted, CliFailure> => {
  const token = text.trim();
  return /^[\x21-\x7e]{1,16384}$/.test(token)
    ? Effect.succeed(Redacted.make(token))
    : Effect.fail(usageFailure(`${source} does not hold a token; put one JWT on one line into it`));
};

/**
 * The token of `--token-file`, or else of `CUSTODY_TOKEN`; undefined when neither is given.
 *
 * @param file a path, `-` for standard input, or undefined
 */
export const loadAccessToken = (
  file: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Effect.Effect<Redacted.Redacted | undefined, CliFailure> =>
  Effect.gen(function* () {
    const inherited = env["CUSTODY_TOKEN"];
    if (file === undefined) return inherited === undefined ? undefined : yield* checked(inherited, "CUSTODY_TOKEN");
    const bytes = yield* file === "-"
      ? readStandardInput("the token", maxBytes)
      : readBoundedFile(file, { maxBytes, secret: true }).pipe(
          Effect.mapError((fault) => usageFailure(`--token-file: ${fault.message}`)),
        );
    return yield* checked(new TextDecoder().decode(bytes), "--token-file");
  });
