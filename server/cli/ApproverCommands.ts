/** `custody approvers register | invite | get | metadata`. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Either, Option } from "effect";
import { readBoundedFile } from "../config/BoundedFile.ts";
import { readRecordAnswer } from "./Answers.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";
import { approverIdOption, metadataOf, metadataOption, pathOf, refArgument } from "./ApproverOptions.ts";
import { invite } from "./InviteCommand.ts";
import { list } from "./ListCommand.ts";
import { metadata } from "./MetadataCommands.ts";
import { printResult } from "./Output.ts";
import { type PublicKeyFile, parsePublicKeyFile } from "./PublicKeyFile.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";
import { readStandardInput } from "./StandardInput.ts";

/** The largest public key is 2,592 bytes; PEM makes it a third longer. */
const maxKeyFileBytes = 16 * 1024;

const readKey = (file: string): Effect.Effect<PublicKeyFile, CliFailure> =>
  Effect.gen(function* () {
    const content = yield* file === "-"
      ? readStandardInput("the public key", maxKeyFileBytes)
      : readBoundedFile(file, { maxBytes: maxKeyFileBytes, secret: false }).pipe(
          Effect.mapError((fault) => usageFailure(`--key: ${fault.message}`)),
        );
    return yield* Either.mapLeft(parsePublicKeyFile(content), (why) => usageFailure(`--key: the file ${why}`));
  });

const chosenAlgorithm = (key: PublicKeyFile, given: string | undefined): Either.Either<string, CliFailure> => {
  if (key.algorithm === undefined && given === undefined) {
    return Either.left(
      usageFailure("--key: the encoding does not name the algorithm; give --algorithm, for example P256"),
    );
  }
  if (key.algorithm !== undefined && given !== undefined && key.algorithm !== given) {
    return Either.left(usageFailure(`--algorithm: the key is of ${key.algorithm}; leave the option out`));
  }
  return Either.right(given ?? key.algorithm ?? "");
};

const register = Command.make(
  "register",
  {
    id: approverIdOption,
    key: Options.text("key").pipe(
      Options.withPseudoName("FILE|-"),
      Options.withDescription("The public key: PEM, DER or Base64; - for standard input."),
    ),
    algorithm: Options.text("algorithm").pipe(
      Options.withPseudoName("ALG"),
      Options.withDescription("The key's algorithm, such as ED25519 or P256; needed only for a bare key."),
      Options.optional,
      Options.map(Option.getOrUndefined),
    ),
    metadata: metadataOption,
    service: serviceOptions,
    json: jsonOption,
  },
  ({ id, key, algorithm, metadata, service, json }) =>
    Effect.gen(function* () {
      if (key === "-" && service.tokenFile === "-") {
        return yield* usageFailure("--key and --token-file both ask for standard input; name a file for one of them");
      }
      const pairs = yield* metadataOf(metadata);
      const publicKey = yield* readKey(key);
      const credential = {
        type: "SIGNATURE",
        algorithm: yield* chosenAlgorithm(publicKey, algorithm),
        publicKey64: publicKey.publicKey64,
      };
      const body = { id, credential, ...pairs };
      const { call } = yield* serviceOf(service, process.env);
      const answer = yield* call({ method: "POST", path: "/v1/custody/approvers", body });
      const { ref } = yield* readRecordAnswer(answer.body);
      const headline = `${answer.status === 201 ? "Registered" : "Registered already"}: ${ref}`;
      yield* printResult({ json, headline, value: answer.body });
    }).pipe(Effect.scoped),
).pipe(Command.withDescription("Register a public key; repeating the same command is harmless."));

const get = Command.make(
  "get",
  {
    ref: refArgument,
    service: serviceOptions,
    json: jsonOption,
  },
  ({ ref, service, json }) =>
    Effect.gen(function* () {
      const path = yield* pathOf(ref);
      const { call } = yield* serviceOf(service, process.env);
      const { body } = yield* call({ method: "GET", path });
      yield* printResult({ json, value: body });
    }).pipe(Effect.scoped),
).pipe(Command.withDescription("Show one approver version, its metadata and their revision."));

export const approverCommands = Command.make("approvers").pipe(
  Command.withDescription("Register approvers, invite them to register themselves, read them, change their metadata."),
  Command.withSubcommands([register, invite, list, get, metadata]),
);
