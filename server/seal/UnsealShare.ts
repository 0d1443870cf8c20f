/**
 * One share of a root key as an operator holds it, version 1:
 *
 *     version 1 | vault id 16 | value 32 | coordinate 1
 *
 * The vault id is public. It lets a share of another peer, or of an earlier
 * init, be refused by name instead of spoiling the shares already collected.
 */
import { rootKeyBytes, vaultIdBytes } from "./Vault.ts";

const version = 1;
const valueAt = 1 + vaultIdBytes;
/** Value and coordinate, as the secret sharing library has them. */
const pointBytes = rootKeyBytes + 1;
const shareBytes = valueAt + pointBytes;
const share64Length = Math.ceil(shareBytes / 3) * 4;

export interface UnsealShare {
  readonly vaultId: Uint8Array;
  /** Value and, in its last byte, coordinate from 1 to 255. */
  readonly point: Uint8Array;
}

/** The bytes an operator is shown in Base64. */
export const encodeShare = (vaultId: Uint8Array, point: Uint8Array): Uint8Array =>
  Uint8Array.of(version, ...vaultId, ...point);

/**
 * Reads a share in standard padded Base64, in its one canonical spelling.
 * Undefined for anything else. Coordinate 0 is refused too: there the
 * polynomial has the root key itself, so no such share was ever handed out.
 */
export const decodeShare = (share64: string): UnsealShare | undefined => {
  if (share64.length !== share64Length) return undefined;
  const bytes = Uint8Array.from(Buffer.from(share64, "base64"));
  const canonical = Buffer.from(bytes).toString("base64") === share64;
  if (!canonical || bytes.length !== shareBytes || bytes[0] !== version || bytes.at(-1) === 0) return undefined;
  const share = { vaultId: bytes.slice(1, valueAt), point: bytes.slice(valueAt) };
  bytes.fill(0);
  return share;
};
