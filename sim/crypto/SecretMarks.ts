/** How the secrets of the simulation begin, so that they are known wherever they turn up (S29). */
import { Encoding } from "effect";

/** Every bearer token of the simulation, and nothing else, begins with this. */
export const TOKEN_MARK = "bearer-secret-of-a-caller-";

/** A token as text, and as the text and digits of its bytes; of the first 24, whose Base64url begins alike. */
export const TOKEN_MARKS: ReadonlyArray<string> = [
  TOKEN_MARK,
  Encoding.encodeBase64Url(TOKEN_MARK.slice(0, 24)),
  Encoding.encodeHex(TOKEN_MARK),
];

/** Every invitation of the simulation begins with this; its length makes the Base64url begin alike, too. */
export const INVITATION_MARK = "invitation-of-caller-";

/** An invitation as bytes, as text, and as the digits of a key. */
export const INVITATION_MARKS: ReadonlyArray<string> = [
  INVITATION_MARK,
  Encoding.encodeBase64Url(INVITATION_MARK),
  Encoding.encodeHex(INVITATION_MARK),
];
