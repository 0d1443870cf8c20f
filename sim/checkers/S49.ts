/**
 * S49: a ref names one version to the last character, and nothing else gives one. A policy is read exactly where it
 * keeps every rule, comes to what its peer has made durable, and has a digest only where each entry is another key.
 */
import { absurd } from "effect";
import type { RejectionCode } from "../../core/base/Rejection.ts";
import { approverSubject } from "../models/approvers/ApproverSubject.ts";
import { type LookupAnswer, type LookupAsked, standingRefusal } from "../oracle/LookupRequests.ts";
import type { Approver, PolicyMeant } from "../requests/Policies.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

const DIGEST_TAG = "SERVICE_POLICY_V1\u0000";

const aboutOf = (slot: number, asked: LookupAsked): string => {
  if (asked._tag === "Get") return `peer ${slot} was asked by ${asked.bearer} for ${JSON.stringify(asked.text)}`;
  const { edge, entries } = asked.policy;
  const what =
    edge === undefined
      ? `of ${entries.length} entries`
      : `that ${edge.isBroken ? "breaks" : "keeps"} ${edge.rule}: ${edge.how}`;
  return `peer ${slot} was asked by ${asked.bearer} to resolve a policy ${what}`;
};

const textOf = (answer: LookupAnswer): string => {
  switch (answer._tag) {
    case "Refused":
      return `it was refused: ${answer.code}`;
    case "Got":
      return `it gave revision ${answer.row.revision} of ${answer.row.ref}`;
    case "Resolved":
      return `it came to ${answer.entries.map(({ pointer, code = "resolved" }) => `${pointer} ${code}`).join(", ")}, digest ${answer.policyDigest}`;
    default:
      return absurd(answer);
  }
};

export const S49 = (ghost: Ghost): Checker => {
  /** The row of a ref that a peer has made durable. */
  const heldAt = ({ slot }: Watched, ref: string) => {
    const facts = ghost.subjects.get(ref);
    return facts?.subject === approverSubject && (facts.holders & maskOf(slot)) !== 0 ? facts : undefined;
  };

  /** The refusals that an answer may be; undefined where none. */
  const refusalOf = ({ state }: Watched, asked: LookupAsked): RejectionCode | undefined => {
    if (asked.bearer === "nobody") return "UNAUTHENTICATED";
    if (asked.bearer === "another") return "ACCESS_DENIED";
    const standing = state === undefined ? undefined : standingRefusal(state);
    if (standing !== undefined) return standing;
    if (asked._tag === "Get") return asked.kind === "none" ? "INVALID_REF" : undefined;
    return asked.policy.edge?.isBroken === true ? "INVALID_REQUEST_BODY" : undefined;
  };

  /** What each entry comes to, as a line of text. */
  const linesOf = (peer: Watched, { entries }: PolicyMeant): ReadonlyArray<string> => {
    const owners = new Map<string, string>();
    return entries.map(({ pointer, approver }) => {
      const isThere = !("ref" in approver) || heldAt(peer, approver.ref) !== undefined;
      if (!isThere) return `${pointer} approver_not_found`;
      const owner = owners.get(keyNameOf(approver));
      if (owner !== undefined) return `${pointer} duplicate_key ${owner}`;
      owners.set(keyNameOf(approver), pointer);
      return `${pointer} resolved`;
    });
  };
  const keyNameOf = ({ keyName }: Approver): string => keyName;

  const isRight = (peer: Watched, asked: LookupAsked, answer: LookupAnswer): boolean => {
    const refusal = refusalOf(peer, asked);
    // Where rows are known to be lost, any may be.
    const isLost = peer.state?.fitness.integrityFault !== undefined;
    if (answer._tag === "Refused" && (refusal !== undefined || isLost))
      return answer.code === (refusal ?? "INTEGRITY_FAILURE");
    if (refusal !== undefined) return false;
    if (asked._tag === "Get") {
      const facts = heldAt(peer, asked.text);
      if (answer._tag === "Refused") return facts === undefined && answer.code === "APPROVER_NOT_FOUND";
      return (
        answer._tag === "Got" &&
        facts !== undefined &&
        answer.row.ref === asked.text &&
        answer.row.revision === facts.revisionAt[peer.slot] &&
        approverSubject.changed(facts.row as typeof answer.row, answer.row) === undefined
      );
    }
    if (answer._tag !== "Resolved") return false;
    const lines = linesOf(peer, asked.policy);
    const told = answer.entries.map(({ pointer, code = "resolved", duplicateOf }) =>
      [pointer, code, ...(duplicateOf === undefined ? [] : [duplicateOf])].join(" "),
    );
    if (isLost) return true;
    const isWhole = lines.every((line) => line.endsWith(" resolved"));
    const digest = isWhole ? ghost.crypto.sha256OfText(DIGEST_TAG + asked.policy.canonical) : undefined;
    return told.join("\n") === lines.join("\n") && answer.policyDigest === digest;
  };

  return {
    id: "S49",
    looked: (peer, asked, answer, transactions) => {
      if (!peer.honest) return;
      const about = aboutOf(peer.slot, asked);
      if (transactions > 0) throw new Violation("S49", about, `it wrote ${transactions} transaction(s)`);
      if (!isRight(peer, asked, answer)) throw new Violation("S49", about, textOf(answer));
    },
  };
};
