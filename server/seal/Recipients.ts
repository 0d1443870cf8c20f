/**
 * Unseal shares for the eyes of their holders: each encrypted to the public key of one person, by age
 * (age-encryption.org/v1) or OpenPGP (RFC 9580), so that neither the answer of the service nor a terminal ever has it
 * in clear. The libraries are loaded only on demand.
 */
import { Either } from "effect";

/** Characters of one public key: an RSA key of 4,096 bits with some signatures on it. */
export const mostRecipientCharacters = 32 * 1024;

/** A holder's public key that can be encrypted to. */
export interface Recipient {
  /** Tells holders apart: the age key itself, or the fingerprint of the PGP key. */
  readonly name: string;
  /** Encrypts a text for this holder alone, armored. */
  readonly encrypt: (text: string) => Promise<string>;
}

const ageRecipient = async (key: string): Promise<Recipient> => {
  const { armor, Encrypter } = await import("age-encryption");
  const encrypter = new Encrypter();
  encrypter.addRecipient(key);
  return { name: key, encrypt: async (text) => armor.encode(await encrypter.encrypt(text)) };
};

const pgpRecipient = async (armoredKey: string): Promise<Recipient> => {
  const { createMessage, encrypt, readKey } = await import("openpgp");
  const encryptionKeys = await readKey({ armoredKey });
  // Finds a key that is expired, revoked or cannot encrypt, before anything is made.
  await encryptionKeys.getEncryptionKey();
  return {
    name: encryptionKeys.getFingerprint(),
    encrypt: async (text) => encrypt({ message: await createMessage({ text }), encryptionKeys }),
  };
};

/**
 * A public key as its holder wrote it: one line that begins with `age1`, or an
 * armored PGP public key block. Left is "what is wrong; what to do".
 */
export const recipientOf = async (text: string): Promise<Either.Either<Recipient, string>> => {
  const key = text.trim();
  const isPgp = key.startsWith("-----BEGIN PGP PUBLIC KEY BLOCK-----");
  if (!isPgp && !/^age1[a-z0-9]{1,4096}$/.test(key))
    return Either.left("this is no public key; give an age recipient (age1…) or an armored PGP public key block");
  try {
    return Either.right(await (isPgp ? pgpRecipient(key) : ageRecipient(key)));
  } catch {
    // The reason a library gives may quote what it read.
    return Either.left("this public key cannot be encrypted to; check that it is whole, not expired and not revoked");
  }
};

/** A share for one holder alone, armored. */
export interface EncryptedShare {
  readonly recipient: string;
  readonly share: string;
}

/** New shares, shown once: in standard Base64, or encrypted to their holders. */
export type NewShares =
  | { readonly shares64: ReadonlyArray<string> }
  | { readonly encryptedShares: ReadonlyArray<EncryptedShare> };

/** Shares as they leave: in clear, or each encrypted to one holder. The bytes are overwritten. */
export const newShares = async (
  shares: ReadonlyArray<Uint8Array>,
  recipients: ReadonlyArray<Recipient>,
): Promise<NewShares> => {
  const shares64 = shares.map((share) => Buffer.from(share).toString("base64"));
  for (const share of shares) share.fill(0);
  if (recipients.length === 0) return { shares64 };
  const encryptedShares = await Promise.all(
    recipients.map(async ({ name, encrypt }, index) => ({
      recipient: name,
      share: await encrypt(shares64[index] ?? ""),
    })),
  );
  return { encryptedShares };
};
