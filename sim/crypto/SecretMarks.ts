/** How the secrets of the simulation begin, so that they are known wherever they turn up (S29). */
import { Encoding } from "effect";

/** Every bearer token of the simulation begins with this, and nothing else does; longer than what need not be looked at. */
export const TOKEN_MARK = "bearer-secret-of-a-caller-";

/** Every invitation of the simulation begins with this; of that length its Base64url begins alike. */
export const INVITATION_MARK = "invitation-of-caller-";

/** An invitation as bytes, as text, and as the digits of a key. */
export const INVITATION_MARKS: ReadonlyArray<string> = [
  INVITATION_MARK,
  Encoding.encodeBase64Url(INVITATION_MARK),
  Encoding.encodeHex(INVITATION_MARK),
];
