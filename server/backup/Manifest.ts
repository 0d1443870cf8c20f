/**
 * What a backup says about itself: whose database it holds, as of when, and the digest of its bytes, signed with the
 * peer's identity key. As text it is JSON, one member to a line, for people; what is signed is the canonical encoding.
 */
import { Either, ParseResult, Schema } from "effect";
import { bool, digest, nullable, publicKey, record, text, type TypeOf, uint } from "../../core/codec/Codec.ts";
import { writtenIn } from "../../core/codec/Versioned.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { Signature } from "../../core/base/Digest.ts";

export const BACKUP_TAG = "CUSTODY_BACKUP_V1";
const FORMAT = "custody backup";
/** The newest form of a backup that this program knows, and the one it makes. */
const VERSION = 1;
/** Far more than any manifest has. */
export const maxManifestBytes = 16 * 1024;

export const factsCodec = writtenIn(
  VERSION,
  record({
    /** Unix milliseconds, by the clock of the peer. */
    madeAt: uint,
    /** The version of the program that made it. */
    program: text(64),
    peerId: uint,
    identityKey: publicKey,
    /** Absent where the backup is from before the founding. */
    cluster: nullable(record({ clusterId: digest, epoch: uint, topologyDigest: digest, development: bool })),
    incarnation: uint,
    /** The last batch that the peer signed, and the last row of its audit. */
    batchNo: uint,
    auditSeq: uint,
    approvers: uint,
    /** The last transaction in the database, and the rows it left. */
    transactions: uint,
    rows: uint,
    /** Of the database: its length, and its SHA-256. */
    bytes: uint,
    sha256: digest,
  }),
);
/** The signed content of a manifest. */
export type BackupFacts = TypeOf<typeof factsCodec>;

export interface Manifest {
  readonly facts: BackupFacts;
  readonly signature: Signature;
}

/** `unusable`: nothing was found out about the content of a backup. `broken`: it is not, or not whole, what a peer made. */
export type FaultKind = "unusable" | "broken";

/** What keeps a backup from being used. */
export interface Finding {
  readonly kind: FaultKind;
  readonly what: string;
}

export const damage = (what: string): Either.Either<never, Finding> => Either.left({ kind: "broken", what });

const hex = (bytes: number) => Schema.String.pipe(Schema.pattern(new RegExp(`^[0-9a-f]{${2 * bytes}}$`)));
const Uint = Schema.Int.pipe(Schema.between(0, Number.MAX_SAFE_INTEGER));

const Written = Schema.Struct({
  format: Schema.Literal(FORMAT),
  version: Schema.Literal(VERSION),
  madeAt: Uint,
  program: Schema.String.pipe(Schema.maxLength(64)),
  peerId: Uint,
  identityKey: hex(32),
  cluster: Schema.NullOr(
    Schema.Struct({ clusterId: hex(32), epoch: Uint, topologyDigest: hex(32), development: Schema.Boolean }),
  ),
  incarnation: Uint,
  batchNo: Uint,
  auditSeq: Uint,
  approvers: Uint,
  transactions: Uint,
  rows: Uint,
  bytes: Uint,
  sha256: hex(32),
  signature: hex(64),
});

/** The text of a manifest; the same facts always give the same bytes. */
export const manifestText = ({ facts, signature }: Manifest): string => {
  const { cluster, ...others } = facts;
  const { madeAt, program, peerId, identityKey, ...numbers } = others;
  const named = { madeAt, program, peerId, identityKey, cluster: cluster ?? null, ...numbers };
  return `${JSON.stringify({ format: FORMAT, version: VERSION, ...named, signature }, undefined, 2)}\n`;
};

/** The version a text claims, if it is a manifest at all. */
const Claim = Schema.parseJson(Schema.Struct({ format: Schema.Literal(FORMAT), version: Uint }));

/** Reads a manifest that was written by {@link manifestText}, to the byte. Left says what is wrong with it. */
export const parseManifest = (text: string): Either.Either<Manifest, Finding> => {
  const claim = Schema.decodeUnknownEither(Claim)(text);
  if (Either.isLeft(claim)) return damage("it is no backup of a peer: it does not begin with a manifest");
  if (claim.right.version !== VERSION)
    return Either.left({
      kind: "unusable",
      what: `it has version ${claim.right.version} of the format, and this program knows version ${VERSION}; use the program that made it, or a newer one`,
    });
  const written = Schema.decodeUnknownEither(Schema.parseJson(Written), { onExcessProperty: "error" })(text);
  if (Either.isLeft(written)) {
    const { path } = ParseResult.ArrayFormatter.formatErrorSync(written.left)[0] ?? { path: [] };
    return damage(`its manifest is damaged: ${path.join(".") || "it"} is not as it must be`);
  }
  const { format: _format, version: _version, signature, cluster, ...others } = written.right;
  // The brands are the lengths, which the schema has checked.
  const manifest = {
    facts: { ...others, cluster: cluster ?? undefined } as BackupFacts,
    signature: signature as Signature,
  };
  return manifestText(manifest) === text ? Either.right(manifest) : damage("its manifest is damaged");
};

/** Whether the holder of the identity key named in the manifest signed it. */
export const isSigned = (crypto: Crypto, { facts, signature }: Manifest): boolean =>
  crypto.isPublicKey(facts.identityKey) && crypto.verify(facts.identityKey, BACKUP_TAG, factsCodec, facts, signature);
