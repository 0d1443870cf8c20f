/** What a generation is now: its row alone does not say that its whole key is destroyed. */
import type { Generation, Key } from "./KeyRecord.ts";

/** The generation as readers are shown it: of a destroyed key each one is destroyed, with the key at the latest. */
export const generationNow = (key: Pick<Key, "status" | "updatedAt">, stored: Generation): Generation =>
  key.status === "ACTIVE" || stored.state === "DESTROYED"
    ? stored
    : { ...stored, state: "DESTROYED", destroyedAt: key.updatedAt };
