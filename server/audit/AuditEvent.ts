/**
 * An audit row as an event of CloudEvents 1.0, in its JSON format. Everything that the row's hash covers is in the
 * event, so whoever reads it can compute the hash again; nothing is in it that does not follow from the row.
 */
import { Either, ParseResult, Schema } from "effect";
import type { Digest } from "../../core/base/Digest.ts";
import { canonicalJson, NotCanonical } from "../../core/codec/CanonicalJson.ts";
import { decode as decodeBytes } from "../../core/codec/CborReader.ts";
import { encode } from "../../core/codec/CborWriter.ts";
import { EncodeFault } from "../../core/codec/Codec.ts";
import { NEWEST } from "../../core/codec/Versioned.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import { auditHash } from "../../core/protocol/Audit.ts";
import { protocolTables } from "../../core/protocol/Tables.ts";
import type { Rows } from "../../core/Tables.ts";
import type { AuditRow } from "../../runtime/AuditReads.ts";

/** Beyond it a year has no four digits, and RFC 3339 no text for it. */
const LAST_MILLIS = 253_402_300_799_999;

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true });
const whole = Schema.NonNegativeInt.pipe(Schema.lessThanOrEqualTo(Number.MAX_SAFE_INTEGER));
const hex = Schema.String.pipe(
  Schema.filter((text): text is Digest => /^[0-9a-f]{64}$/.test(text), { message: () => "is no SHA-256 digest" }),
);

const AuditData = Schema.Struct({
  version: whole,
  peerId: whole,
  seq: whole,
  prevHash: hex,
  /** Of this row: what the next one has as `prevHash`. */
  hash: hex,
  integrityKeyVersion: whole,
  /** Unix milliseconds. */
  timestamp: whole,
  event: Schema.String,
  actor: optional(Schema.Struct({ sub: Schema.String, iss: optional(Schema.String), jti: optional(Schema.String) })),
  context: Schema.Struct({
    approverRef: optional(Schema.String),
    metadataRevision: optional(whole),
    keyId: optional(Schema.String),
    generation: optional(whole),
    entryPeer: optional(whole),
    requestId: optional(Schema.String),
    detail: Schema.String,
    times: whole,
  }),
  request: optional(Schema.Struct({ method: Schema.String, path: Schema.String, bodyDigest: optional(hex) })),
  outcome: Schema.String,
});

const AuditEvent = Schema.Struct({
  specversion: Schema.Literal("1.0"),
  id: hex,
  source: Schema.String,
  type: Schema.String,
  subject: optional(Schema.String),
  time: optional(Schema.String),
  datacontenttype: Schema.Literal("application/json"),
  data: AuditData,
});
export type AuditEvent = typeof AuditEvent.Type;

type Given<A> = { readonly [K in keyof A]?: Exclude<A[K], undefined> };

/** The members that are there: JSON has no undefined. */
const given = <A extends object>(members: A): Given<A> =>
  // What is left has the same names and no undefined.
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Given<A>;

/** The event of a row; `hash` is the row's own. */
export const auditEvent = ({ row, hash }: AuditRow): AuditEvent => {
  const { actor, request, approverRef, timestamp } = row;
  const context = given({
    approverRef,
    metadataRevision: row.metadataRevision,
    keyId: row.keyId,
    generation: row.generation,
    entryPeer: row.entryPeer,
    requestId: row.requestId,
  });
  return {
    specversion: "1.0",
    id: row.id,
    source: `urn:custody:peer:${row.peerId}`,
    type: `custody.audit.${row.event}`,
    ...given({ subject: approverRef ?? row.keyId }),
    ...(timestamp > LAST_MILLIS ? {} : { time: new Date(timestamp).toISOString() }),
    datacontenttype: "application/json",
    data: {
      version: row.version,
      peerId: row.peerId,
      seq: row.seq,
      prevHash: row.prevHash,
      hash,
      integrityKeyVersion: row.integrityKeyVersion,
      timestamp,
      event: row.event,
      ...(actor && { actor: { sub: actor.sub, ...given({ iss: actor.iss, jti: actor.jti }) } }),
      context: { ...context, detail: row.detail, times: row.times },
      ...(request && {
        request: { method: request.method, path: request.path, ...given({ bodyDigest: request.bodyDigest }) },
      }),
      outcome: row.outcome,
    },
  };
};

const rowOf = ({ id, data }: AuditEvent): Rows["audit"] => {
  const { actor, context, request } = data;
  return {
    version: data.version,
    id,
    peerId: data.peerId,
    integrityKeyVersion: data.integrityKeyVersion,
    seq: data.seq,
    prevHash: data.prevHash,
    timestamp: data.timestamp,
    event: data.event,
    actor: actor && { iss: actor.iss, sub: actor.sub, jti: actor.jti },
    approverRef: context.approverRef,
    metadataRevision: context.metadataRevision,
    keyId: context.keyId,
    generation: context.generation,
    entryPeer: context.entryPeer,
    request: request && { method: request.method, path: request.path, bodyDigest: request.bodyDigest },
    outcome: data.outcome,
    requestId: context.requestId,
    detail: context.detail,
    times: context.times,
  };
};

const decode = Schema.decodeUnknownEither(AuditEvent, { onExcessProperty: "error" });

const shapeFault = (error: ParseResult.ParseError): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error);
  const where = issue === undefined || issue.path.length === 0 ? "the event" : issue.path.map(String).join(".");
  return `${where} is not as this service writes it`;
};

/**
 * The row of an event, with the hash computed from its content. Left says in words what is wrong: another shape, a
 * member that contradicts the rest, or content that does not have the hash that the event names.
 *
 * @param value parsed JSON, objects as plain records
 */
export const readAuditEvent = (crypto: Pick<Crypto, "digest">, value: unknown): Either.Either<AuditRow, string> => {
  const decoded = decode(value);
  if (Either.isLeft(decoded)) return Either.left(shapeFault(decoded.left));
  const event = decoded.right;
  if (event.data.version < 1 || event.data.version > NEWEST)
    return Either.left(`it has version ${event.data.version}, which this program does not know; use a newer one`);
  try {
    const row = rowOf(event);
    const hash = auditHash(crypto, row);
    if (hash !== event.data.hash) return Either.left("it was changed: its content has another hash");
    // What the form of its version has no place for is not in the hash, so anybody can put it there.
    const hashed = decodeBytes(protocolTables.audit, encode(protocolTables.audit, row));
    if (Either.isLeft(hashed) || canonicalJson(auditEvent({ row: hashed.right, hash })) !== canonicalJson(event))
      return Either.left("it was changed: its attributes contradict its data");
    return Either.right({ row, hash });
  } catch (fault) {
    if (!(fault instanceof EncodeFault || fault instanceof NotCanonical)) throw fault;
    return Either.left("it has a value that this service never writes");
  }
};
