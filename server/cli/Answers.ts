/** The answers of the service that have members a command looks at; all others are printed as they came. */
import { Effect, Schema } from "effect";
import { CliFailure } from "./CliFailure.ts";

/** New shares: in clear, or each for its holder. */
const newShares = {
  shares64: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] }),
  encryptedShares: Schema.optionalWith(
    Schema.Array(Schema.Struct({ recipient: Schema.String, share: Schema.String })),
    { default: () => [] },
  ),
};

const InitAnswer = Schema.Struct({
  peerId: Schema.Number,
  threshold: Schema.Number,
  total: Schema.Number,
  sharesNeeded: Schema.Number,
  ...newShares,
}).pipe(Schema.filter(({ shares64, encryptedShares }) => shares64.length + encryptedShares.length > 0));

const RekeyAnswer = Schema.Struct({
  step: Schema.Literal("NONE", "PRESENT_SHARES", "NEW_SHARES", "DONE"),
  have: Schema.Number,
  need: Schema.Number,
  ...newShares,
});

/** Rows verified after an unseal, of so many; absent once all are. */
const verifying = Schema.optionalWith(Schema.Struct({ rows: Schema.Number, of: Schema.Number }), { exact: true });

const UnsealAnswer = Schema.Struct({
  state: Schema.Literal("SEALED", "UNSEALED"),
  have: Schema.Number,
  need: Schema.Number,
  verifying,
});

const collected = { have: Schema.Number, need: Schema.Number };

const StatusAnswer = Schema.Struct({
  state: Schema.Literal("UNINITIALIZED", "SEALED", "UNSEALED"),
  verifying,
  unsealing: Schema.optionalWith(Schema.Struct(collected), { exact: true }),
  rekey: Schema.optionalWith(Schema.Struct({ step: Schema.Literal("PRESENT_SHARES", "NEW_SHARES"), ...collected }), {
    exact: true,
  }),
  /** For operators alone. */
  detail: Schema.optionalWith(Schema.Struct({ integrityFault: Schema.optionalWith(Schema.String, { exact: true }) }), {
    exact: true,
  }),
});

const RestoreAnswer = Schema.Struct({ state: Schema.Literal("SEALED", "UNSEALED") });

const RotateAnswer = Schema.Struct({ integrityKeyVersion: Schema.Number });

const AuditAnswer = Schema.Struct({
  peerId: Schema.Number,
  events: Schema.Array(Schema.Unknown),
  /** Where the next page begins. */
  next: Schema.Number,
  /** The newest event there is. */
  head: Schema.Struct({ seq: Schema.Number, hash: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)) }),
});
export type AuditPage = typeof AuditAnswer.Type;

/** Metadata as it came: copied into a new object, a pair whose key is `__proto__` would be lost. */
const Pairs = Schema.declare(
  (value): value is Readonly<Record<string, string>> =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((each) => typeof each === "string"),
);

const ListAnswer = Schema.Struct({
  items: Schema.Array(
    Schema.Struct(
      {
        ref: Schema.String,
        credential: Schema.Struct(
          { type: Schema.String, algorithm: Schema.String },
          { key: Schema.String, value: Schema.Unknown },
        ),
        metadata: Pairs,
        metadataRevision: Schema.Int,
        updatedAt: Schema.Int.pipe(Schema.between(0, 8.64e15)),
      },
      { key: Schema.String, value: Schema.Unknown },
    ),
  ),
  nextCursor: Schema.NullOr(Schema.String),
});
export type ApproverPage = typeof ListAnswer.Type;

const RecordAnswer = Schema.Struct({ ref: Schema.String });

/** A record, as far as its metadata goes. */
const MetadataAnswer = Schema.Struct({
  ref: Schema.String,
  metadata: Pairs,
  metadataRevision: Schema.Int.pipe(Schema.positive()),
});
export type MetadataAnswer = typeof MetadataAnswer.Type;

const PolicyAnswer = Schema.Struct({
  resolved: Schema.Boolean,
  policyDigest: Schema.optionalWith(Schema.String, { exact: true }),
  entries: Schema.Array(
    Schema.Struct({
      pointer: Schema.String,
      ref: Schema.optionalWith(Schema.String, { exact: true }),
      resolved: Schema.Boolean,
      type: Schema.optionalWith(Schema.String, { exact: true }),
      algorithm: Schema.optionalWith(Schema.String, { exact: true }),
      code: Schema.optionalWith(Schema.String, { exact: true }),
      duplicateOf: Schema.optionalWith(Schema.String, { exact: true }),
    }),
  ),
  // Whoever answers yes says for what, and of every entry.
}).pipe(
  Schema.filter(
    ({ resolved, policyDigest, entries }) =>
      resolved === (policyDigest !== undefined) && resolved === entries.every((entry) => entry.resolved),
  ),
);
export type PolicyAnswer = typeof PolicyAnswer.Type;

const secretText = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9_-]{43}$/));

/** The creation options are passed on as they came; only their relying party is looked at. */
const OptionsAnswer = Schema.Struct({
  registrationId: secretText,
  invitation: secretText,
  expiresAt: Schema.Int.pipe(Schema.between(0, 8.64e15)),
  publicKey: Schema.Struct(
    { rp: Schema.Struct({ id: Schema.String.pipe(Schema.pattern(/^[a-z0-9.-]{1,253}$/)), name: Schema.String }) },
    { key: Schema.String, value: Schema.Unknown },
  ),
});

const MemberFaults = Schema.Array(Schema.Struct({ peerId: Schema.Number, reason: Schema.String }));

const PromotionAnswer = Schema.Struct({
  promotion: Schema.NullOr(
    Schema.Struct({
      role: Schema.Literal("source", "target"),
      stage: Schema.Literal("PINNED", "DECIDED", "DONE", "ACCEPTED", "INSTALLING", "INSTALLED"),
      transferId: Schema.String,
      source: Schema.Number,
      members: Schema.Array(Schema.Number),
      threshold: Schema.Number,
      approvers: Schema.Number,
      here: Schema.Number,
      accepted: Schema.Array(Schema.Number),
      installed: Schema.Array(Schema.Number),
      refused: MemberFaults,
      waitsFor: Schema.String,
    }),
  ),
});
export type PromotionAnswer = typeof PromotionAnswer.Type;

export const reader =
  <A, I>(schema: Schema.Schema<A, I>, kind: "unknown" | "unreachable") =>
  (body: unknown): Effect.Effect<A, CliFailure> =>
    Schema.decodeUnknown(schema)(body).pipe(
      Effect.mapError(
        () =>
          new CliFailure({
            kind,
            message: "the service answered in a form this version does not know",
            hint: "check --url, and compare the versions of the command and of the peer",
          }),
      ),
    );

// A change succeeded all the same; a read did not reach this service.
export const readInitAnswer = reader(InitAnswer, "unknown");
export const readRekeyAnswer = reader(RekeyAnswer, "unknown");
export const readUnsealAnswer = reader(UnsealAnswer, "unknown");
export const readRestoreAnswer = reader(RestoreAnswer, "unknown");
export const readRotateAnswer = reader(RotateAnswer, "unknown");
export const readOptionsAnswer = reader(OptionsAnswer, "unknown");
export const readRecordAnswer = reader(RecordAnswer, "unknown");
export const readReplacedAnswer = reader(MetadataAnswer, "unknown");
export const readMetadataAnswer = reader(MetadataAnswer, "unreachable");
export const readListAnswer = reader(ListAnswer, "unreachable");
export const readStatusAnswer = reader(StatusAnswer, "unreachable");
export const readPolicyAnswer = reader(PolicyAnswer, "unreachable");
export const readAuditAnswer = reader(AuditAnswer, "unreachable");
export const readPromotionAnswer = reader(PromotionAnswer, "unreachable");
