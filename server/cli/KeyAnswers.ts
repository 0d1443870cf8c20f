/** The answers about keys that have members a command looks at; all others are printed as they came. */
import { Schema } from "effect";
import { reader } from "./Answers.ts";

const base64 = Schema.Uint8ArrayFromBase64;

const KeyAnswer = Schema.Struct({
  keyId: Schema.String,
  status: Schema.String,
  algorithm: Schema.String,
  scheme: Schema.String,
  currentGeneration: Schema.Int,
  threshold: Schema.Int,
  total: Schema.Int,
  health: Schema.String,
  updatedAt: Schema.Int.pipe(Schema.between(0, 8.64e15)),
  generation: Schema.Struct({ generation: Schema.Int, state: Schema.String }),
});

const KeyPageAnswer = Schema.Struct({
  // Each is printed as it came.
  items: Schema.Array(Schema.extend(KeyAnswer, Schema.Record({ key: Schema.String, value: Schema.Unknown }))),
  nextCursor: Schema.NullOr(Schema.String),
});
export type KeyPage = typeof KeyPageAnswer.Type;

const PublicKeyAnswer = Schema.Struct({
  scheme: Schema.String,
  publicKey64: base64,
  spki64: Schema.optionalWith(base64, { exact: true }),
});

const SignatureAnswer = Schema.Struct({
  signature64: base64,
  generation: Schema.Int,
  imposters: Schema.Array(Schema.Int),
  operationId: Schema.String,
});

const VerdictAnswer = Schema.Struct({ valid: Schema.Boolean });

const RepairedAnswer = Schema.Struct({ generations: Schema.Array(Schema.Int) });

/** As far as it says which scheme commands have. */
const AuthorityAnswer = Schema.Struct({
  commandSchema: Schema.Struct({
    properties: Schema.Struct({
      artifact: Schema.Struct({
        properties: Schema.Struct({ scheme: Schema.Struct({ const: Schema.String }) }),
      }),
    }),
  }),
});

// A change succeeded all the same; a read did not reach this service.
export const readChangedKey = reader(KeyAnswer, "unknown");
export const readSignature = reader(SignatureAnswer, "unknown");
export const readRepaired = reader(RepairedAnswer, "unknown");
export const readKeyPage = reader(KeyPageAnswer, "unreachable");
export const readPublicKey = reader(PublicKeyAnswer, "unreachable");
export const readVerdict = reader(VerdictAnswer, "unreachable");
export const readAuthority = reader(AuthorityAnswer, "unreachable");
