/** The fields never shown of a run, in words or in pictures: bearer tokens and key material (S29). */
import { TOKEN_MARK } from "../crypto/SecretMarks.ts";

/** Fields that are secret whatever is in them, and what is written in their place. */
const secrets: ReadonlyMap<string, string> = new Map([
  ["token", "(a bearer token, never shown)"],
  ["vault", "(encrypted keys, never shown)"],
  ["blob", "(encrypted keys, never shown)"],
  ["bootstrapSecret", "(a secret, never shown)"],
]);

/** What is written in place of the value of a field; undefined where the value itself may be shown. */
export const redactionOf = (field: string): string | undefined => secrets.get(field);

/** A text as it may be shown, wherever it was found. */
export const textWithoutTokens = (text: string): string =>
  text.includes(TOKEN_MARK) ? "(it holds a bearer token, never shown)" : text;
