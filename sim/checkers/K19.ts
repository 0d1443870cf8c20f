/**
 * K19: a share is repaired at one cutoff (contract 10.5): the target asks, and a helper begins, with nothing undecided and
 * with the registry that the target has. Nobody asks for what is there.
 */
import type { Message } from "../../core/Message.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { generationAt, opensAt } from "./KeyFacts.ts";
import { Violation } from "../base/Violation.ts";

export const K19 = (ghost: Ghost): Checker => {
  /** By session: the registry root that its target has named. */
  const roots = new Map<string, string>();
  /** Process and session: who has begun with it. */
  const begun = new Set<string>();

  const assertCutoff = ({ slot, store }: Watched, sessionId: string, root: string, does: string): void => {
    const fact = `peer ${slot} ${does} in repair ${sessionId}`;
    const undecided = ghost.openAt(slot).size;
    if (undecided > 0) throw new Violation("K19", fact, `it has ${undecided} undecided preparations`);
    if (ghost.crypto.setDigest(ghost.product.contentsOf(ghost.crypto, store).set) !== root)
      throw new Violation("K19", fact, `it has another registry than ${root}`);
  };

  const assertLacking = (
    peer: Watched,
    { sessionId, evidence, generations }: Message & { _tag: "Repair.Open" },
  ): void => {
    const keyId = /^\/v1\/custody\/keys\/([^/]+)\/repair$/u.exec(evidence.path)?.[1] ?? "";
    for (const { generation } of generations) {
      const row = generationAt(peer.store, keyId, generation);
      if (row !== undefined && opensAt(peer, row))
        throw new Violation(
          "K19",
          `peer ${peer.slot} asks for generation ${generation} of ${keyId} in repair ${sessionId}`,
          "its share is there, and opens",
        );
    }
  };

  return {
    id: "K19",
    sent: (peer, message) => {
      if (message._tag !== "Repair.Open" && message._tag !== "Repair.Key") return;
      const { slot, process, honest, isDamaged } = peer;
      const { sessionId } = message;
      const name = `${slot} ${process} ${sessionId}`;
      if (!honest || isDamaged || ghost.isLying(slot) || begun.has(name)) return;
      begun.add(name);
      if (message._tag === "Repair.Open") {
        roots.set(sessionId, message.registryRoot);
        assertLacking(peer, message);
        return assertCutoff(peer, sessionId, message.registryRoot, "asks for help");
      }
      const root = roots.get(sessionId);
      if (root !== undefined) assertCutoff(peer, sessionId, root, "helps");
    },
  };
};
