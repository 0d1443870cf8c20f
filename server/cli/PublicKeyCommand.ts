/** `custody keys public`. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Either } from "effect";
import { openOut, outOption, printBytes } from "./BytesOut.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";
import { readPublicKey } from "./KeyAnswers.ts";
import { generationOption, keyArgument, pathOfKey } from "./KeyOptions.ts";
import { printLines, printResult } from "./Output.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";

type Form = "pem" | "der" | "raw" | "hex";

interface PublicKey {
  readonly publicKey64: Uint8Array;
  readonly spki64?: Uint8Array;
}

const noStructure = usageFailure(
  "keys of this scheme have no PEM or DER form: they are x coordinates (BIP 340); give --format hex or raw",
);

/** RFC 7468 section 13. */
const pemOf = (der: Uint8Array): string => {
  const lines =
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return ["-----BEGIN PUBLIC KEY-----", ...lines, "-----END PUBLIC KEY-----", ""].join("\n");
};

const inForm = (form: Form, { publicKey64, spki64 }: PublicKey): Either.Either<Uint8Array, CliFailure> => {
  if (form === "raw") return Either.right(publicKey64);
  if (form === "hex") return Either.right(Buffer.from(`${Buffer.from(publicKey64).toString("hex")}\n`));
  if (spki64 === undefined) return Either.left(noStructure);
  return Either.right(form === "der" ? spki64 : Buffer.from(pemOf(spki64)));
};

export const publicKey = Command.make(
  "public",
  {
    key: keyArgument,
    generation: generationOption("Of this generation. Default: the newest."),
    format: Options.choice("format", ["pem", "der", "raw", "hex"]).pipe(
      Options.withDescription("raw and hex are the key alone. Default: pem."),
      Options.withDefault<Form>("pem"),
    ),
    out: outOption,
    service: serviceOptions,
    json: jsonOption,
  },
  ({ key, generation, format, out, service, json }) =>
    Effect.gen(function* () {
      const path = yield* pathOfKey(key, "public");
      const target = out === undefined ? undefined : yield* openOut(out);
      const { call } = yield* serviceOf(service, process.env);
      const query = generation === undefined ? "" : `?generation=${generation}`;
      const { body } = yield* call({ method: "GET", path: `${path}${query}` });
      const bytes = yield* inForm(format, yield* readPublicKey(body));
      yield* target?.write(bytes) ?? Effect.void;
      if (json) return yield* printResult({ json, value: body });
      yield* out === undefined ? printBytes(bytes) : printLines([`Written: ${out}`]);
    }).pipe(Effect.scoped),
).pipe(Command.withDescription("Print a public key, or write it into a file."));
