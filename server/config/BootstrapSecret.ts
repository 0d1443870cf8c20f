/** The secret the peers of a new cluster share until their topology is signed. */
import { Effect, Either } from "effect";
import { readBoundedText } from "./BoundedFile.ts";
import { type ConfigError, configError } from "./ConfigError.ts";
import type { Config } from "./ConfigSchema.ts";

const key = "cluster.bootstrap-secret.file";
const variable = "CUSTODY_BOOTSTRAP_SECRET";
const leastCharacters = 32;
const mostCharacters = 1024;

const encoder = new TextEncoder();

const checked = (text: string, name: string): Either.Either<Uint8Array, ConfigError> => {
  const secret = text.replace(/\r?\n$/, "");
  return new RegExp(`^[\\x21-\\x7e]{${leastCharacters},${mostCharacters}}$`).test(secret)
    ? Either.right(encoder.encode(secret))
    : Either.left(
        configError(
          name,
          `must be ${leastCharacters} to ${mostCharacters} printable ASCII characters without spaces; write for example the output of openssl rand -base64 48`,
        ),
      );
};

/**
 * The bootstrap secret as bytes, from the file named in the configuration or from `CUSTODY_BOOTSTRAP_SECRET`; one
 * newline at its end does not count. Undefined when neither is given, which is enough for a peer whose topology exists
 * already. A short secret is refused: an eavesdropper who records the genesis messages can try guesses offline.
 */
export const loadBootstrapSecret = (
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Effect.Effect<Uint8Array | undefined, ConfigError> =>
  Effect.gen(function* () {
    const file = config.cluster.bootstrapSecret?.file;
    const inherited = env[variable];
    if (file !== undefined && inherited !== undefined) {
      return yield* configError(key, `is given although ${variable} is set too; keep one of them`);
    }
    if (inherited !== undefined) return yield* checked(inherited, variable);
    if (file === undefined) return undefined;
    const text = yield* readBoundedText(file, { maxBytes: 4096, secret: true }).pipe(
      Effect.mapError((fault) => configError(key, fault.message)),
    );
    return yield* checked(text, key);
  });

/** Where a bootstrap secret is configured, without a look at it; undefined where none is. */
export const bootstrapSecretSource = (
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined =>
  env[variable] !== undefined ? variable : config.cluster.bootstrapSecret === undefined ? undefined : key;
