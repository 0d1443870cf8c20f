/** The answers to callers about a key that is not as they take it to be. */
import { rejection } from "../../base/Rejection.ts";

export const keyNotFound = rejection("KEY_NOT_FOUND", "No key of this id exists.", "Check the id of the key.");

export const keyDestroyed = rejection(
  "KEY_DESTROYED",
  "The key is destroyed.",
  "Use another key; this id is never used again.",
);

export const generationMoved = rejection(
  "GENERATION_MOVED",
  "The generation that the request names is not the active one.",
  "Read the next generation: an earlier copy of this request may have made it. If not, send it for the current one.",
);

/** A key from before a promotion: no member signs alone, and all do together once they have shares of it. */
export const keyUnshared = rejection(
  "KEY_UNSHARED",
  "The key was made before the promotion and is whole at one member, which signs nothing with it.",
  "Refresh the key: all members get shares of it, its public key stays, and the whole is erased.",
);

export const authorityNotAttached = rejection(
  "AUTHORITY_NOT_ATTACHED",
  "The authority is not attached to the key's active generation, or is disabled here.",
  "Read the key: its active generation lists its authorities; config lists those that are enabled.",
);
