/** The texts of real peers' answers (records, offers and refusals) in the form that the core has. */
import { Either, Schema } from "effect";
import type { Answer } from "../../core/Action.ts";
import { canonicalJson } from "../../core/codec/CanonicalJson.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { rejection, rejectionCodes } from "../../core/base/Rejection.ts";
import type { Rows } from "../../core/Tables.ts";
import { ES256 } from "../../core/webauthn/CreationOptions.ts";
import type { Said } from "./History.ts";
import type { Answered } from "./HttpCall.ts";

const SignatureCredential = Schema.Struct({
  type: Schema.Literal("SIGNATURE"),
  algorithm: Schema.String,
  publicKey64: Schema.String,
});

const PasskeyCredential = Schema.Struct({
  version: Schema.Number,
  type: Schema.Literal("WEBAUTHN"),
  algorithm: Schema.Literal("ES256"),
  credentialId: Schema.String,
  publicKeyCose: Schema.String,
  rpId: Schema.String,
  origins: Schema.Array(Schema.String),
  userVerification: Schema.String,
  userHandle: Schema.String,
  backupEligible: Schema.Boolean,
});

const Observations = Schema.Struct({
  signCount: Schema.Number,
  backupState: Schema.Boolean,
  transports: Schema.Array(Schema.String),
  aaguid: Schema.String,
});

const Record = Schema.parseJson(
  Schema.Struct({
    id: Schema.String,
    ref: Schema.String,
    credential: Schema.Union(SignatureCredential, PasskeyCredential),
    observations: Schema.optional(Observations),
    metadata: Schema.Record({ key: Schema.String, value: Schema.String }),
    metadataRevision: Schema.Number,
    createdAt: Schema.Number,
    updatedAt: Schema.Number,
  }),
);

const PublicKeyType = Schema.Literal("public-key");

const CreationOptions = Schema.Struct({
  rp: Schema.Struct({ id: Schema.String, name: Schema.String }),
  user: Schema.Struct({ id: Schema.String, name: Schema.String, displayName: Schema.String }),
  challenge: Schema.String,
  pubKeyCredParams: Schema.Array(Schema.Struct({ type: PublicKeyType, alg: Schema.Literal(ES256) })),
  timeout: Schema.Number,
  excludeCredentials: Schema.Array(Schema.Struct({ type: PublicKeyType, id: Schema.String })),
  authenticatorSelection: Schema.Struct({
    residentKey: Schema.Literal("preferred"),
    requireResidentKey: Schema.Literal(false),
    userVerification: Schema.Literal("required"),
  }),
  attestation: Schema.Literal("none", "indirect", "direct"),
  extensions: Schema.Struct({ credProps: Schema.Literal(true) }),
});

const Offer = Schema.parseJson(
  Schema.Struct({
    registrationId: Schema.String,
    invitation: Schema.String,
    expiresAt: Schema.Number,
    publicKey: CreationOptions,
  }),
);

const Problem = Schema.parseJson(
  Schema.Struct({ code: Schema.String, detail: Schema.String, outcomeUnknown: Schema.optional(Schema.Boolean) }),
);

const decodeRecord = Schema.decodeEither(Record);
const decodeOffer = Schema.decodeEither(Offer);
const decodeProblem = Schema.decodeEither(Problem);

/** Callers are not shown the key's identity. */
const NOT_SHOWN = "0".repeat(64) as Digest;

type Credential = typeof SignatureCredential.Type | typeof PasskeyCredential.Type;

/** A signature is shown without its version, a passkey with its algorithm (contract 2.2.1 and 2.3). */
const descriptorOf = (credential: Credential): string => {
  if (credential.type === "SIGNATURE") return canonicalJson({ ...credential, version: 1 });
  const { algorithm: _, ...digested } = credential;
  return canonicalJson(digested);
};

/** An approver as a record shows it. */
export interface Shown {
  readonly approver: Rows["approvers"];
  readonly observations: Rows["observations"] | undefined;
}

/** The content of a record of the API, or undefined for any other text. */
export const shownIn = (text: string): Shown | undefined => {
  const record = Either.getOrUndefined(decodeRecord(text));
  if (record === undefined) return undefined;
  const { id, ref, credential, observations, metadata, metadataRevision, createdAt, updatedAt } = record;
  const approver = {
    id,
    ref,
    descriptor: descriptorOf(credential),
    keyIdentity: NOT_SHOWN,
    metadata: Object.entries(metadata).map(([key, value]) => [key, value] as const),
    revision: metadataRevision,
    createdAt,
    updatedAt,
  };
  return { approver, observations };
};

/** The refusal that a problem of the API stands for, or undefined for any other text. */
export const refusalIn = (text: string): Answer | undefined => {
  const problem = Either.getOrUndefined(decodeProblem(text));
  const code = rejectionCodes.find((each) => each === problem?.code);
  if (problem === undefined || code === undefined) return undefined;
  const { detail, outcomeUnknown = false } = problem;
  return { _tag: "Rejected", rejection: rejection(code, detail, "", { outcomeUnknown }) };
};

/** The answer that a status and a text stand for, to a request of this kind; undefined where they are none. */
export const answerOf = ({ status, text }: Answered, kind: Said["kind"]): Answer | undefined => {
  if (status === 200 || status === 201) {
    const offer = Either.getOrUndefined(decodeOffer(text));
    if (offer !== undefined) return status === 200 ? { _tag: "Offered", offer } : undefined;
    const shown = shownIn(text);
    if (shown === undefined) return undefined;
    if (kind !== "METADATA") return { _tag: "Registered", created: status === 201, ...shown };
    return status === 200 ? { _tag: "Replaced", approver: shown.approver } : undefined;
  }
  return refusalIn(text);
};
