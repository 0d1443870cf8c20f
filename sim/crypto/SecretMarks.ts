/** How the secrets of the simulation begin, so that they are known wherever they turn up (S29). */
import { Encoding } from "effect";

/** Every bearer token of the simulation, and nothing else, begins with this; S29 looks at no text shorter than it. */
export const TOKEN_MARK = "bearer-secret-of-a-caller-";

/** Every invitation of the simulation begins with this; its length makes the Base64url begin alike, too. */
export const INVITATION_MARK = "invitation-of-caller-";

/** An invitation as bytes, as text, and as the digits of a key. */
export const INVITATION_MARKS: ReadonlyArray<string> = [
  INVITATION_MARK,
  Encoding.encodeBase64Url(INVITATION_MARK),
  Encoding.encodeHex(INVITATION_MARK),
];
