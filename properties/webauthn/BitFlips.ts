/** Single bits of a response, flipped one at a time. */
import { Encoding } from "effect";
import type { CredentialJson } from "./Authenticator.ts";

export interface BitFlip {
  readonly part: "clientDataJSON" | "attestationObject";
  /** Which byte of the part. */
  readonly at: number;
  /** The bit as a number: 1, 2, 4 to 128. */
  readonly bit: number;
  /** A finish with this bit flipped. */
  readonly body: string;
}

const PARTS = ["clientDataJSON", "attestationObject"] as const;
export const EVERY_BIT: ReadonlyArray<number> = [1, 2, 4, 8, 16, 32, 64, 128];

/**
 * Finishes with one bit of the response flipped in each.
 *
 * @param bitsAt which bits of the byte at an offset
 */
export const bitFlips = (
  invitation: string,
  credential: CredentialJson,
  bitsAt: (at: number) => ReadonlyArray<number>,
): ReadonlyArray<BitFlip> => {
  // Without the repetitions that browsers add, which would reveal a flip anywhere.
  const { clientDataJSON, attestationObject } = credential.response;
  const honest = { clientDataJSON, attestationObject };
  return PARTS.flatMap((part) => {
    const bytes = Buffer.from(honest[part], "base64url");
    return [...bytes].flatMap((byte, at) =>
      bitsAt(at).map((bit) => {
        const changed = Uint8Array.from(bytes);
        changed[at] = byte ^ bit;
        const response = { ...honest, [part]: Encoding.encodeBase64Url(changed) };
        return { part, at, bit, body: JSON.stringify({ invitation, credential: { ...credential, response } }) };
      }),
    );
  });
};
