/** The authenticator's data: WebAuthn Level 3 section 6.1, checked as in section 7.1 steps 13 to 20. */
import { Either } from "effect";
import { hasBytesAt } from "../codec/Bytes.ts";
import { Limits } from "../base/Limits.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import { type CoseKey, readCoseKey } from "./CoseKey.ts";
import { cborMap, readCborItem } from "./StrictCbor.ts";

const HASH_BYTES = 32;
const FLAGS_AT = HASH_BYTES;
const COUNTER_AT = FLAGS_AT + 1;
const AAGUID_AT = COUNTER_AT + 4;
const AAGUID_BYTES = 16;
const ID_LENGTH_AT = AAGUID_AT + AAGUID_BYTES;
const ID_AT = ID_LENGTH_AT + 2;

/** Bits of the flags octet. */
const UP = 0x01;
const UV = 0x04;
const BE = 0x08;
const BS = 0x10;
const AT = 0x40;
const ED = 0x80;
const RESERVED = 0x22;

export interface AuthenticatorData {
  /** The bytes as they were signed. */
  readonly bytes: Uint8Array;
  readonly signCount: number;
  readonly backupEligible: boolean;
  readonly backupState: boolean;
  readonly aaguid: Uint8Array;
  readonly credentialId: Uint8Array;
  readonly key: CoseKey;
}

/**
 * Reads and checks authenticator data of a registration, to its last byte.
 *
 * @param rpIdHash SHA-256 of the RP ID
 * @throws Refused with the check that failed
 */
export const readAuthenticatorData = (bytes: Uint8Array, rpIdHash: Uint8Array): AuthenticatorData => {
  demand(bytes.length >= AAGUID_AT, "authenticator_data", "The authenticator data ends before its counter does.");
  demand(hasBytesAt(bytes, 0, rpIdHash), "rp_id_hash", "The credential was made for another RP ID.");
  const flags = bytes[FLAGS_AT] ?? 0;
  checkFlags(flags);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  demand(bytes.length >= ID_AT, "attested_credential", "The attested credential data ends before its id.");
  const keyAt = ID_AT + view.getUint16(ID_LENGTH_AT);
  const credentialId = bytes.slice(ID_AT, keyAt);
  checkIdLength(keyAt - ID_AT);
  demand(credentialId.length === keyAt - ID_AT, "attested_credential", "The credential id is longer than the bytes.");
  const { key, end } = readCoseKey(bytes, keyAt);
  checkExtensions(bytes, end, (flags & ED) !== 0);
  return {
    bytes,
    signCount: view.getUint32(COUNTER_AT),
    backupEligible: (flags & BE) !== 0,
    backupState: (flags & BS) !== 0,
    aaguid: bytes.slice(AAGUID_AT, ID_LENGTH_AT),
    credentialId,
    key,
  };
};

const checkFlags = (flags: number): void => {
  demand((flags & UP) !== 0, "user_presence", "The user was not present (flag UP).");
  demand((flags & UV) !== 0, "user_verification", "The user was not verified (flag UV).");
  demand((flags & RESERVED) === 0, "reserved_flags", "A reserved flag is set.");
  const isConsistent = (flags & BS) === 0 || (flags & BE) !== 0;
  demand(isConsistent, "backup_flags", "The credential is backed up (BS) but may not be (BE).");
  demand((flags & AT) !== 0, "attested_credential", "There is no attested credential data (flag AT).");
};

/** Level 3 section 4 asks for 16 bytes at least: fewer cannot be unique. */
const checkIdLength = (length: number): void => {
  const { shortestCredentialIdBytes, credentialIdBytes } = Limits;
  const isAllowed = length >= shortestCredentialIdBytes && length <= credentialIdBytes;
  demand(
    isAllowed,
    "credential_id",
    `A credential id takes ${shortestCredentialIdBytes} to ${credentialIdBytes} bytes.`,
  );
};

/**
 * Extension outputs of the authenticator: a map with text keys and nothing after it. Some authenticators add outputs
 * unasked (credProtect), so all are tolerated; none is stored.
 */
const checkExtensions = (bytes: Uint8Array, at: number, announced: boolean): void => {
  if (!announced) {
    const isEnd = at === bytes.length;
    demand(isEnd, "authenticator_data", "Something follows the key, and no extensions are announced (flag ED).");
    return;
  }
  const item = readCborItem(bytes, at);
  if (Either.isLeft(item))
    throw new FailedCheck("authenticator_extensions", `There is ${item.left} in the extensions.`);
  const names = [...(cborMap(item.right.value)?.keys() ?? [0])];
  const isNamed = names.every((name) => typeof name === "string");
  demand(isNamed, "authenticator_extensions", "The extensions are not a map whose keys are text.");
  demand(item.right.end === bytes.length, "authenticator_data", "Something follows the extensions.");
};
