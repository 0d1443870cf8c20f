/** S7: a key has one owner id, over everything committed or reserved at any honest peer. */
import type { Digest } from "../../core/Digest.ts";
import type { Checker } from "../Checker.ts";
import type { Ghost } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

interface Claims {
  /** Owner id to the number of peers that hold it reserved; committed claims never go away. */
  readonly reserved: Map<string, number>;
  committed: string | undefined;
}

export const S7 = (ghost: Ghost): Checker => {
  const keys = new Map<string, Claims>();
  const claimsOf = (key: string): Claims => {
    const known = keys.get(key);
    if (known !== undefined) return known;
    const claims: Claims = { reserved: new Map(), committed: undefined };
    keys.set(key, claims);
    return claims;
  };
  const assertOne = (key: string, claims: Claims, owner: string, what: string): void => {
    const other = claims.committed ?? [...claims.reserved.keys()].find((each) => each !== owner);
    if (other !== undefined && other !== owner)
      throw new Violation(
        "S7",
        `id ${other} ${claims.committed === undefined ? "has reserved" : "owns"} key ${key}`,
        `${what} it for id ${owner}`,
      );
  };
  return {
    id: "S7",
    flushed: ({ slot, honest }, writes) => {
      if (!honest) return;
      for (const write of writes) {
        // A pledge replaces a preparation's row and changes nothing about what is claimed.
        if (write.table === "preparations" && write.op !== "replace") {
          const proposal =
            write.op === "remove" ? ghost.proposals.get(write.key as Digest)?.proposal : write.row.proposal;
          if (proposal === undefined) continue;
          const { id, keyIdentity } = proposal.effects;
          const claims = claimsOf(keyIdentity);
          const count = (claims.reserved.get(id) ?? 0) + (write.op === "remove" ? -1 : 1);
          if (count > 0) claims.reserved.set(id, count);
          else claims.reserved.delete(id);
          if (write.op !== "remove") assertOne(keyIdentity, claims, id, `peer ${slot} reserved`);
        }
        if ((write.table !== "keys" && write.table !== "approvers") || write.op === "remove") continue;
        const key = write.table === "keys" ? write.key : write.row.keyIdentity;
        const claims = claimsOf(key);
        assertOne(key, claims, write.row.id, `peer ${slot} stored`);
        claims.committed = write.row.id;
      }
    },
  };
};
