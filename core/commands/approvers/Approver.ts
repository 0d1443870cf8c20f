/** One approver version as it is stored: the same bytes on every peer. */
import { bool, digest, list, record, text, type TypeOf, uint } from "../../codec/Codec.ts";
import { metadataCodec } from "../../credential/Metadata.ts";
import { Limits } from "../../base/Limits.ts";

const AAGUID_CHARACTERS = 22;

export const approverCodec = record({
  id: text(Limits.approverIdCharacters),
  ref: text(256),
  /** The descriptor's canonical JSON, exactly the bytes under the ref's digest. */
  descriptor: text(4 * Limits.publicKeyBytes),
  /** Canonical algorithm plus normalized key (contract 2.2.6). */
  keyIdentity: digest,
  metadata: metadataCodec,
  revision: uint,
  createdAt: uint,
  updatedAt: uint,
});
export type Approver = TypeOf<typeof approverCodec>;

/** First observations of an authenticator; they never enter a ref (contract 2.3). */
export const observationsCodec = record({
  signCount: uint,
  backupState: bool,
  /** Sorted and distinct. */
  transports: list(text(Limits.transportCharacters), Limits.transports),
  /** Unpadded Base64url. */
  aaguid: text(AAGUID_CHARACTERS),
});
export type Observations = TypeOf<typeof observationsCodec>;
