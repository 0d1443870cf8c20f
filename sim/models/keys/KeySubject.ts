/** Keys of the service's own, as what key generations make and destructions change. */
import { replaceGeneration, replaceKey } from "../../../core/commands/keys/KeyRoot.ts";
import type { Rows } from "../../../core/Tables.ts";
import type { Covered, Subject } from "../Subject.ts";

type Key = Rows["custodyKeys"];

export const keySubject: Subject<Key> = {
  table: "custodyKeys",
  name: "key",
  isCounted: false,
  revisionOf: ({ revision }) => revision,
  addTo: (crypto, set, row) => replaceKey(crypto, set, undefined, row),
  changed: (first, now) => {
    for (const field of ["keyId", "algorithm", "scheme", "createdAt"] as const)
      if (first[field] !== now[field]) return field;
    return undefined;
  },
  differs: (left, right) => {
    for (const field of ["status", "generation", "assetOwner", "updatedAt"] as const)
      if (left[field] !== right[field]) return field;
    return undefined;
  },
  shownIn: (answer) => {
    if (answer._tag !== "KeyMade" && answer._tag !== "KeyDestroyed") return undefined;
    const { key } = answer;
    const created = answer._tag === "KeyMade" && answer.created;
    const own = created ? `generation ${answer.generation.generation}` : undefined;
    return { ref: key.keyId, row: key, created, promised: key.revision, own };
  },
  seen: ({ keyId, generation, status, revision }) => ({ id: keyId, metadata: `${generation} ${status}`, revision }),
};

/** Generations are in the registry root beside their keys; a change of one is a change of its key. */
export const coveredGenerations: Covered<Rows["generations"]> = {
  table: "generations",
  addTo: (crypto, set, row) => replaceGeneration(crypto, set, undefined, row),
};
