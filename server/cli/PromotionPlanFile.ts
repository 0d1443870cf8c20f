/** The plan of a promotion as an operator writes it: the other members of the new cluster, and its numbers. */
import { Effect, Either, ParseResult, Schema } from "effect";
import { readBoundedText } from "../config/BoundedFile.ts";
import { IdentityKey, integer, PeerUrl } from "../config/Setting.ts";
import { parseStrictYaml } from "../config/StrictYaml.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";

const MAX_BYTES = 256 * 1024;

const PeerCount = integer(1, 65_535);

const Target = Schema.Struct({
  peerId: Schema.propertySignature(PeerCount).pipe(Schema.fromKey("peer-id")),
  url: PeerUrl,
  identityKey: Schema.propertySignature(IdentityKey).pipe(Schema.fromKey("identity-key")),
});

const Plan = Schema.Struct({ threshold: PeerCount, total: PeerCount, targets: Schema.Array(Target) });
export type PromotionPlanFile = typeof Plan.Type;

const decode = Schema.decodeUnknownEither(Plan, { errors: "all", onExcessProperty: "error" });

/** One problem, without what stands there: "where: what". */
const problemOf = ({ _tag, path, message }: ParseResult.ArrayFormatterIssue): string => {
  const at = path.length === 0 ? "the file" : path.map(String).join(".");
  if (_tag === "Missing") return `${at}: is required`;
  if (_tag === "Unexpected")
    return `${at}: unknown key; a plan has threshold, total and targets, each of these peer-id, url and identity-key`;
  return `${at}: ${message.startsWith("Expected ") ? "has another form than a plan; see the example in docs/operations.md" : message}`;
};

/**
 * Reads a plan of at most 256 KiB in YAML. Fails with a usage {@link CliFailure} that names every problem. Whether the
 * plan fits together is judged by the service.
 */
export const readPlanFile = (file: string): Effect.Effect<PromotionPlanFile, CliFailure> =>
  Effect.gen(function* () {
    const text = yield* readBoundedText(file, { maxBytes: MAX_BYTES, secret: false }).pipe(
      Effect.mapError(({ message }) => usageFailure(`--config: ${message}`)),
    );
    const content = yield* Either.mapLeft(parseStrictYaml(text), (message) => usageFailure(`${file}: ${message}`));
    return yield* Either.mapLeft(decode(content), (error) =>
      usageFailure(
        [
          `${file} is not a plan:`,
          ...ParseResult.ArrayFormatter.formatErrorSync(error).map((each) => `  ${problemOf(each)}`),
        ].join("\n"),
      ),
    );
  });
