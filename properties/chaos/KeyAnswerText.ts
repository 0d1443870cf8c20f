/** The texts of real peers' answers about keys, in the form that the core has. */
import { Either, Schema } from "effect";
import type { Answer } from "../../core/Action.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { generationStates, keyStatuses, makings } from "../../core/commands/keys/KeyRecord.ts";
import type { KeyRequest } from "../../sim/requests/KeyRequests.ts";
import { refusalIn } from "./AnswerText.ts";
import type { Answered } from "./HttpCall.ts";

const Generation = Schema.Struct({
  generation: Schema.Number,
  state: Schema.Literal(...generationStates),
  madeBy: Schema.Literal(...makings),
  publicKey64: Schema.String,
  spki64: Schema.optional(Schema.String),
  authorities: Schema.Array(Schema.Struct({ id: Schema.String })),
  record: Schema.String,
  transcript: Schema.String,
  createdAt: Schema.Number,
  destroyedAt: Schema.optional(Schema.Number),
});

const Key = Schema.parseJson(
  Schema.Struct({
    keyId: Schema.String,
    status: Schema.Literal(...keyStatuses),
    algorithm: Schema.String,
    scheme: Schema.String,
    currentGeneration: Schema.Number,
    assetOwner: Schema.optional(Schema.String),
    createdAt: Schema.Number,
    updatedAt: Schema.Number,
    threshold: Schema.Number,
    total: Schema.Number,
    health: Schema.Literal("OK", "SHARE_MISSING"),
    generation: Generation,
  }),
);

/** A key as it is shown, with one of its generations. */
export type ShownKey = typeof Key.Type;

const Signature = Schema.parseJson(
  Schema.Struct({
    type: Schema.Literal("arbitrary"),
    signature64: Schema.String,
    generation: Schema.Number,
    imposters: Schema.Array(Schema.Number),
    operationId: Schema.String,
  }),
);

const Repaired = Schema.parseJson(Schema.Struct({ generations: Schema.Array(Schema.Number) }));

const decodeKey = Schema.decodeEither(Key);
const decodeSignature = Schema.decodeEither(Signature);
const decodeRepaired = Schema.decodeEither(Repaired);

const hexOf = (base64: string): string => Buffer.from(base64, "base64").toString("hex");

const digestIn = (text: string): Digest =>
  // The brand is the form, which whoever compares it sees.
  text.replace(/^sha256:/, "") as Digest;

/** The key in an answer of the API; undefined for any other text. */
export const keyIn = (text: string): ShownKey | undefined => Either.getOrUndefined(decodeKey(text));

/** What stands second in its tag. */
const revisionIn = (etag = ""): number => Number(/^"[0-9a-f]{64}\.([0-9]+)\./.exec(etag)?.[1] ?? 0);

const rowsOf = (shown: ShownKey, etag: string | undefined) => {
  const { keyId, status, algorithm, scheme, currentGeneration, assetOwner, createdAt, updatedAt } = shown;
  const { publicKey64, spki64: _, authorities, record, transcript, destroyedAt, ...generation } = shown.generation;
  return {
    key: {
      keyId,
      status,
      algorithm,
      scheme,
      generation: currentGeneration,
      revision: revisionIn(etag),
      assetOwner,
      createdAt,
      updatedAt,
    },
    generation: {
      ...generation,
      keyId,
      publicKey: hexOf(publicKey64),
      // Callers are not shown them.
      group: { threshold: shown.threshold, commitments: [], verifyingShares: [] },
      authorities: authorities.map(({ id }) => id),
      record: digestIn(record),
      transcript: digestIn(transcript),
      destroyedAt,
    },
  };
};

/** The answer that a status and a text stand for, to a request of this kind; undefined where they are none. */
export const keyAnswerOf = (
  { status, text, etag }: Answered,
  { kind }: Pick<KeyRequest, "kind">,
): Answer | undefined => {
  if (status !== 200 && status !== 201) return refusalIn(text);
  switch (kind) {
    case "KEYGEN":
    case "DESTROY": {
      const shown = keyIn(text);
      if (shown === undefined || (kind === "DESTROY" && status === 201)) return undefined;
      const rows = rowsOf(shown, etag);
      return kind === "DESTROY"
        ? { _tag: "KeyDestroyed", ...rows }
        : { _tag: "KeyMade", created: status === 201, ...rows };
    }
    case "SIGN": {
      const signed = Either.getOrUndefined(decodeSignature(text));
      return signed && { ...signed, _tag: "Signed", signature: hexOf(signed.signature64) };
    }
    case "REPAIR": {
      const repaired = Either.getOrUndefined(decodeRepaired(text));
      return repaired && { _tag: "Repaired", ...repaired };
    }
  }
};
