/** The options and arguments that say which key is meant, and what is signed with it. */
import * as Args from "@effect/cli/Args";
import * as Options from "@effect/cli/Options";
import { Effect, Either, Option } from "effect";
import { Limits } from "../../core/base/Limits.ts";
import { type Hash, hashes } from "../../core/commands/keys/KeyBodies.ts";
import { isKeyId, type KeyAct, keyPath, KEYS_PATH } from "../../core/commands/keys/KeyId.ts";
import { readBoundedFile } from "../config/BoundedFile.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";
import { readStandardInput } from "./StandardInput.ts";

export const optionalText = (name: string, pseudoName: string, description: string) =>
  Options.text(name).pipe(
    Options.withPseudoName(pseudoName),
    Options.withDescription(description),
    Options.optional,
    Options.map(Option.getOrUndefined),
  );

export const keyArgument = Args.text({ name: "key-id" }).pipe(Args.withDescription("The id of the key."));

export const keyOption = Options.text("key").pipe(
  Options.withPseudoName("KEY-ID"),
  Options.withDescription("The id of the key."),
);

const numberOption = (name: string) =>
  Options.integer(name).pipe(
    Options.withPseudoName("N"),
    Options.filterMap(
      (number) => (number >= 1 && number <= Limits.generations ? Option.some(number) : Option.none()),
      `--${name} is the number of a generation, from 1`,
    ),
  );

export const baseOption = numberOption("base").pipe(
  Options.withDescription("The active generation, as keys show has it: so the command can be repeated."),
);

export const generationOption = (description: string) =>
  numberOption("generation").pipe(
    Options.withDescription(description),
    Options.optional,
    Options.map(Option.getOrUndefined),
  );

export const schemeOption = (description: string) => optionalText("scheme", "SCHEME", description);

export const hashOption = Options.choice("hash", hashes).pipe(
  Options.withDescription("What is done to the data first. Default: NONE. ECDSA signs 32 bytes: SHA256, of most data."),
  Options.withDefault<Hash>("NONE"),
);

export const dataOption = Options.text("data-file").pipe(
  Options.withPseudoName("FILE|-"),
  Options.withDescription("What is signed, of at most 1 MiB; - for standard input."),
);

/** The path of a key, or of what is done with it; an id that is none is refused here. */
export const pathOfKey = (keyId: string, act?: KeyAct): Either.Either<string, CliFailure> =>
  isKeyId(keyId)
    ? Either.right(act === undefined ? `${KEYS_PATH}/${keyId}` : keyPath(keyId, act))
    : Either.left(
        usageFailure(
          "this is not a key id; give 1 to 100 lower-case letters and digits, with single - or _ between them",
        ),
      );

/** The bytes of a file that an option names. */
export const bytesOf = (option: string, file: string, maxBytes: number): Effect.Effect<Uint8Array, CliFailure> =>
  file === "-"
    ? readStandardInput(option, maxBytes)
    : readBoundedFile(file, { maxBytes, secret: false }).pipe(
        Effect.mapError(({ message }) => usageFailure(`${option}: ${message}`)),
      );

/** Refuses two readers of standard input; each is an option with the file that it names. */
export const oneReader = (options: Readonly<Record<string, string | undefined>>): Either.Either<void, CliFailure> => {
  const readers = Object.entries(options).flatMap(([name, file]) => (file === "-" ? [name] : []));
  return readers.length < 2
    ? Either.void
    : Either.left(usageFailure(`${readers.join(" and ")} both ask for standard input; name a file for one of them`));
};
