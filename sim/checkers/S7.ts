/** S7: a key has one owner id, over everything committed or reserved at any honest peer. */
import type { Digest } from "../../core/Digest.ts";
import type { Checker } from "../Checker.ts";
import { type Ghost, maskOf, type PeerMask } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

interface Claims {
  /** Owner id to the peers that hold it reserved; committed claims never go away. */
  readonly reserved: Map<string, PeerMask>;
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
  const assertOne = (slot: number, key: string, claims: Claims, owner: string, does: string): void => {
    if (claims.committed === owner) return;
    let other = claims.committed;
    // A writer that contradicts itself may have one key reserved here for one id and there for another; neither commits.
    if (other === undefined && ghost.hasHonestWriter)
      for (const each of claims.reserved.keys()) if (each !== owner) other ??= each;
    if (other !== undefined)
      throw new Violation(
        "S7",
        `id ${other} ${claims.committed === undefined ? "has reserved" : "owns"} key ${key}`,
        `peer ${slot} ${does} it for id ${owner}`,
      );
  };
  const commit = (slot: number, key: string, owner: string): void => {
    const claims = claimsOf(key);
    assertOne(slot, key, claims, owner, "stored");
    claims.committed = owner;
  };
  return {
    id: "S7",
    written: {
      // Whatever the old life had reserved, it does so no more, whether its row was still there or not.
      restore: ({ slot }) => {
        for (const { reserved } of keys.values())
          for (const [owner, holders] of reserved)
            if (holders === maskOf(slot)) reserved.delete(owner);
            else reserved.set(owner, holders & ~maskOf(slot));
      },
      preparations: ({ slot, honest }, write) => {
        // A pledge replaces a preparation's row and changes nothing about what is claimed.
        if (!honest || write.op === "replace") return;
        const proposal =
          write.op === "remove" ? ghost.proposals.get(write.key as Digest)?.proposal : write.row.proposal;
        if (proposal === undefined) return;
        const { id, keyIdentity } = proposal.effects;
        const claims = claimsOf(keyIdentity);
        const holders = (claims.reserved.get(id) ?? 0) & ~maskOf(slot);
        const left = write.op === "remove" ? holders : holders | maskOf(slot);
        if (left === 0) claims.reserved.delete(id);
        else claims.reserved.set(id, left);
        if (write.op !== "remove") assertOne(slot, keyIdentity, claims, id, "reserved");
      },
      keys: ({ slot, honest }, write) => {
        if (honest && write.op !== "remove") commit(slot, write.key, write.row.id);
      },
      approvers: ({ slot, honest }, write) => {
        if (honest && write.op !== "remove") commit(slot, write.row.keyIdentity, write.row.id);
      },
    },
  };
};
