/** `custody sign` and `custody verify`. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Either } from "effect";
import { Limits } from "../../core/base/Limits.ts";
import { ARBITRARY, keyPath } from "../../core/commands/keys/KeyId.ts";
import { openOut, outOption } from "./BytesOut.ts";
import { CliFailure } from "./CliFailure.ts";
import { readAuthority, readPublicKey, readSignature, readVerdict } from "./KeyAnswers.ts";
import {
  bytesOf,
  dataOption,
  generationOption,
  hashOption,
  keyOption,
  oneReader,
  pathOfKey,
  schemeOption,
} from "./KeyOptions.ts";
import { printLines, printResult } from "./Output.ts";
import type { Service } from "./ServiceClient.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";
import { formOption, fromForm, inForm } from "./SignatureForm.ts";

const schemeHelp = "The scheme of the key. Default: the service is asked.";

/**
 * The scheme of a key, as those know it who may sign with it. The catalog has no key whose share is missing at this
 * peer, where others sign all the same; then its public key tells.
 */
const schemeToSign = ({ call }: Service, keyId: string): Effect.Effect<string, CliFailure> =>
  call({
    method: "GET",
    path: `/v1/custody/control/identities/authority?keyId=${keyId}&authorityId=${ARBITRARY}`,
  }).pipe(
    Effect.flatMap(({ body }) => readAuthority(body)),
    Effect.map(({ commandSchema }) => commandSchema.properties.artifact.properties.scheme.const),
    Effect.catchIf(
      ({ problem }) => problem?.code === "SHARE_MISSING",
      ({ kind, message, problem }) =>
        call({ method: "GET", path: keyPath(keyId, "public") }).pipe(
          Effect.flatMap(({ body }) => readPublicKey(body)),
          Effect.map(({ scheme }) => scheme),
          Effect.mapError(
            () =>
              new CliFailure({ kind, message, problem, hint: "or name the key's --scheme: then it is not asked for" }),
          ),
        ),
    ),
  );

/** It was signed: nobody may take a failure from here on for one of a request that was not sent. */
const orUnwritten = (printed: Effect.Effect<void, CliFailure>): Effect.Effect<void, CliFailure> =>
  Effect.mapError(
    printed,
    ({ message }) => new CliFailure({ kind: "unwritten", message, hint: "it was signed; the same command signs anew" }),
  );

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

export const signCommand = Command.make(
  "sign",
  {
    key: keyOption,
    dataFile: dataOption,
    hash: hashOption,
    scheme: schemeOption(schemeHelp),
    generation: generationOption("Sign only while this is the active generation."),
    format: formOption,
    out: outOption,
    service: serviceOptions,
    json: jsonOption,
  },
  ({ key, dataFile, hash, scheme: given, generation, format, out, service, json }) =>
    Effect.gen(function* () {
      const path = yield* pathOfKey(key, "sign");
      yield* oneReader({ "--data-file": dataFile, "--token-file": service.tokenFile });
      const data64 = base64(yield* bytesOf("--data-file", dataFile, Limits.signedBytes));
      const target = out === undefined ? undefined : yield* openOut(out);
      const opened = yield* serviceOf(service, process.env);
      const scheme = given ?? (yield* schemeToSign(opened, key));
      // Before anything is signed: a form that the scheme has not is wrong usage.
      yield* inForm(format, scheme, new Uint8Array(64));
      const command = { type: ARBITRARY, authorityId: ARBITRARY, artifact: { scheme, hash, data64 } };
      const body = { command, ...(generation === undefined ? {} : { generation }) };
      const answer = yield* opened.call({ method: "POST", path, body, beginsAnew: true });
      const signed = yield* readSignature(answer.body);
      const bytes = yield* inForm(format, scheme, signed.signature64);
      const unwritten = yield* Effect.either(target?.write(bytes) ?? Effect.void);
      const wrong = signed.imposters.length === 0 ? "" : `; the part of peer ${signed.imposters.join(", ")} was wrong`;
      const line =
        target === undefined || Either.isLeft(unwritten)
          ? base64(bytes)
          : `Signed with ${key}, generation ${signed.generation}: ${out}${wrong}`;
      yield* orUnwritten(json ? printResult({ json, value: answer.body }) : printLines([line]));
      if (Either.isLeft(unwritten))
        return yield* new CliFailure({
          kind: "unwritten",
          message: unwritten.left.message,
          hint: "the signature stands on standard output",
        });
    }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Sign a file with a key; the signature is printed in Base64, or written as bytes with --out.",
  ),
);

const doesNotHold = new CliFailure({
  kind: "refused",
  message: "the signature is not one of this key and this file",
  hint: "check --generation, --hash and --format; an older generation has another public key",
});

export const verifyCommand = Command.make(
  "verify",
  {
    key: keyOption,
    dataFile: dataOption,
    signature: Options.text("signature").pipe(
      Options.withPseudoName("FILE|-"),
      Options.withDescription("The signature, as sign --out wrote it; - for standard input."),
    ),
    hash: hashOption,
    scheme: schemeOption(`${schemeHelp} That takes service.key.KEY-ID.public.`),
    generation: generationOption("Of this generation. Default: the newest."),
    format: formOption,
    service: serviceOptions,
    json: jsonOption,
  },
  ({ key, dataFile, signature, hash, scheme: given, generation, format, service, json }) =>
    Effect.gen(function* () {
      const path = yield* pathOfKey(key, "verify");
      yield* oneReader({ "--data-file": dataFile, "--signature": signature, "--token-file": service.tokenFile });
      const data64 = base64(yield* bytesOf("--data-file", dataFile, Limits.signedBytes));
      const content = yield* bytesOf("--signature", signature, Limits.signatureBytes);
      const { call } = yield* serviceOf(service, process.env);
      const publicPath = yield* pathOfKey(key, "public");
      const asked = Effect.flatMap(call({ method: "GET", path: publicPath }), ({ body }) => readPublicKey(body));
      const scheme = given ?? (yield* asked).scheme;
      const signature64 = base64(yield* fromForm(format, scheme, content));
      const command = { type: ARBITRARY, artifact: { scheme, hash, data64 } };
      const body = { command, signature64, ...(generation === undefined ? {} : { generation }) };
      const answer = yield* call({ method: "POST", path, body, isRead: true });
      const { valid } = yield* readVerdict(answer.body);
      if (json) yield* printResult({ json, value: answer.body });
      if (!valid) return yield* doesNotHold;
      if (!json) yield* printLines(["Valid"]);
    }).pipe(Effect.scoped),
).pipe(
  Command.withDescription("Verify a signature of a file with a key's public key; ends with 1 where it does not hold."),
);
