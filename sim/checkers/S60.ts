/**
 * S60: a promotion is asked for with success, and pinned, by those alone who may do that: with a permission of its own
 * and, where the registry has approvers, with those of the registry (contract 5.5, 10.6). It has the plan of whom its
 * audit names, who did not only try, and every target of it has said that it would accept. Whoever may is not told that
 * they may not; targets in the way are named, for what they said. None is pinned while a key is in use that no members
 * can share, and none is refused for such keys where there is none (contract 10.6).
 */
import type { Rejection } from "../../core/base/Rejection.ts";
import { allRows } from "../../core/protocol/AllRows.ts";
import type { PromotionPlan } from "../../core/protocol/PromotionPlan.ts";
import type { Message } from "../../core/Message.ts";
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

/** By target: all that it has said when it was asked, that it would accept or why not. */
type Standings = Map<number, Array<string | undefined>>;

/** What its source says of a target that has not answered, and of itself where a change has begun meanwhile. */
const SILENT = "it does not answer, or not with the key of the plan";
const UNDECIDED = "something is undecided here";

const hasApprovers = ({ store, isDamaged }: Watched): boolean | undefined =>
  isDamaged ? undefined : store.scan("approvers", "", 1).length > 0;

/** The first key in use that no members can share. */
const keyInTheWay = ({ store }: Watched): string | undefined =>
  allRows(store, "custodyKeys").find(({ scheme, status }) => scheme === "ECDSA" && status === "ACTIVE")?.keyId;

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

  /** By nonce of a question; by slot, of all its questions: whoever is answered may be so after the next one has gone out. */
  const answers = new Map<string, Standings>();
  const heard = new Map<number, Standings>();

  const noteQuestion = (message: Message): void => {
    if (message._tag === "Promotion.Ask" && !answers.has(message.nonce)) answers.set(message.nonce, new Map());
  };

  const noteStanding = (slot: number, message: Message, from: number): void => {
    if (message._tag !== "Promotion.Standing") return;
    const all = heard.get(slot) ?? new Map<number, Array<string | undefined>>();
    heard.set(slot, all);
    for (const known of [all, answers.get(message.nonce)])
      known?.set(from, [...(known.get(from) ?? []), message.fault]);
  };

  const assertWilling = (slot: number, what: string, { members }: PromotionPlan, known?: Standings): void => {
    const other = members.find(({ peerId }) => peerId !== slot && known?.get(peerId)?.includes(undefined) !== true);
    if (other === undefined) return;
    throw new Violation("S60", `peer ${slot} ${what}`, `peer ${other.peerId} had not said that it would accept`);
  };

  const assertNamed = (slot: number, plan: PromotionPlan, { code, members }: Rejection): void => {
    const known = heard.get(slot);
    if (members.some(({ reason }) => reason === UNDECIDED))
      assertWilling(slot, "says that only it is in the way of its promotion", plan, known);
    if (code !== "PROMOTION_REFUSED") return;
    const wrong = members.find(
      ({ peerId, reason }) => reason !== SILENT && known?.get(peerId)?.includes(reason) !== true,
    );
    if (wrong === undefined && members.length > 0) return;
    throw new Violation(
      "S60",
      `peer ${slot} is not promoted because of ${wrong === undefined ? "nobody" : `peer ${wrong.peerId}: ${wrong.reason}`}`,
      "no target has said so",
    );
  };

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
    sent: (_peer, message) => noteQuestion(message),
    delivered: ({ slot }, message, from) => noteStanding(slot, message, from),
    replied: (peer, { requestId, answer }) => {
      const request = known.get(requestId);
      if (request === undefined || !isTrusted(peer)) return;
      const { name, grants } = request.asked.who;
      if (answer._tag === "Rejected") assertNamed(peer.slot, request.asked.plan, answer.rejection);
      if (answer._tag === "Promotion" && request.isForbidden)
        throw new Violation(
          "S60",
          `${name} may not promote peer ${peer.slot}`,
          "it was told that the peer is promoted",
        );
      if (answer._tag !== "Rejected") return;
      const { code, detail } = answer.rejection;
      if (code === "KEYS_NOT_PROMOTABLE" && !peer.isDamaged && keyInTheWay(peer) === undefined)
        throw new Violation(
          "S60",
          `every key in use at peer ${peer.slot} can be shared`,
          `request ${requestId} was answered: ${detail}`,
        );
      if (!["ACCESS_DENIED", "UNAUTHENTICATED"].includes(code)) return;
      if (!mayNot(grants, hasApprovers(peer) !== false))
        throw new Violation("S60", `${name} may promote peer ${peer.slot}`, `the answer was ${code}`);
    },
    written: {
      promotion: (peer, write, writes) => {
        if (write.op === "remove" || write.row.stage !== "PINNED" || !isTrusted(peer)) return;
        const { draft } = write.row;
        assertWilling(peer.slot, "pinned a promotion", draft, answers.get(draft.nonce));
        const keyId = peer.isDamaged ? undefined : keyInTheWay(peer);
        if (keyId !== undefined)
          throw new Violation("S60", `peer ${peer.slot} uses key ${keyId}, which no members can share`, "it is pinned");
        for (const told of writes)
          if (told.table === "audit" && told.op !== "remove" && told.row.event === "PROMOTION_PINNED")
            assertPinned(peer, draft, told.row.actor);
      },
    },
  };
};
