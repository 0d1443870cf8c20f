/**
 * S60: a promotion is asked for with success, and pinned, by those alone who may do that: with a permission of its own
 * and, where the registry has approvers, with those of the registry (contract 5.5, 10.6). It has the plan of whom its
 * audit names, who did not only try. Whoever may is not told that they may not.
 */
import type { PromotionPlan } from "../../core/protocol/PromotionPlan.ts";
import type { Rows } from "../../core/Tables.ts";
import { allows, type Grants } from "../requests/Grants.ts";
import { toMoveRegistry, toPromote } from "../requests/Promoter.ts";
import type { Checker, PromotionAsked, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

interface Known {
  readonly asked: PromotionAsked;
  readonly process: number;
  /** Its token is not enough for the registry as it was then; it only grows while a process runs. */
  readonly isForbidden: boolean;
}

const hasApprovers = ({ store, isDamaged }: Watched): boolean | undefined =>
  isDamaged ? undefined : store.scan("approvers", "", 1).length > 0;

const mayMove = (grants: Grants): boolean => toMoveRegistry.every((name) => allows(grants, name));

const mayNot = (grants: Grants | undefined, isAnythingMoved: boolean): boolean =>
  grants === undefined || !allows(grants, toPromote) || (isAnythingMoved && !mayMove(grants));

/** Equal of plans for the same cluster. */
const nameOf = ({ members, threshold }: PromotionPlan): string =>
  JSON.stringify([
    threshold,
    members
      .map(({ peerId, identityKey }): [number, string] => [peerId, identityKey])
      .toSorted(([left], [right]) => left - right),
  ]);

export const S60 = (ghost: Ghost): Checker => {
  const known = new Map<string, Known>();

  const isTrusted = ({ slot, honest }: Watched): boolean => honest && !ghost.isLying(slot);

  const assertPinned = (peer: Watched, draft: PromotionPlan, actor: Rows["audit"]["actor"]): void => {
    const { slot, process } = peer;
    const reasons = [...known.values()].flatMap((each) => {
      if (each.process !== process || each.asked.who.name !== actor?.jti) return [];
      if (each.isForbidden || mayNot(each.asked.who.grants, hasApprovers(peer) === true))
        return ["that one may not promote it"];
      if (each.asked.dryRun) return ["that one has only tried"];
      return [nameOf(each.asked.plan) === nameOf(draft) ? "" : "that one asked for another cluster"];
    });
    if (reasons.includes("")) return;
    throw new Violation(
      "S60",
      `peer ${slot} pinned a promotion as ${actor?.sub ?? "nobody"} had asked`,
      reasons[0] ?? "that one has not asked this process for any",
    );
  };

  return {
    id: "S60",
    promoting: (peer, asked) => {
      const isForbidden = mayNot(asked.who.grants, hasApprovers(peer) === true);
      known.set(asked.requestId, { asked, process: peer.process, isForbidden });
    },
    replied: (peer, { requestId, answer }) => {
      const request = known.get(requestId);
      if (request === undefined || !isTrusted(peer)) return;
      const { name, grants } = request.asked.who;
      if (answer._tag === "Promotion" && request.isForbidden)
        throw new Violation(
          "S60",
          `${name} may not promote peer ${peer.slot}`,
          "it was told that the peer is promoted",
        );
      if (answer._tag !== "Rejected" || !["ACCESS_DENIED", "UNAUTHENTICATED"].includes(answer.rejection.code)) return;
      if (!mayNot(grants, hasApprovers(peer) !== false))
        throw new Violation("S60", `${name} may promote peer ${peer.slot}`, `the answer was ${answer.rejection.code}`);
    },
    written: {
      promotion: (peer, write, writes) => {
        if (write.op === "remove" || write.row.stage !== "PINNED" || !isTrusted(peer)) return;
        for (const told of writes)
          if (told.table === "audit" && told.op !== "remove" && told.row.event === "PROMOTION_PINNED")
            assertPinned(peer, write.row.draft, told.row.actor);
      },
    },
  };
};
