/** What callers ask of a version or of a policy, where nothing is changed, and what they are answered. */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Rows } from "../../core/Tables.ts";
import type { PolicyMeant } from "../requests/Policies.ts";
import type { RefKind } from "../requests/RefForms.ts";

/** Who asks: somebody who may read, somebody who may do something else, or nobody that is known. */
export const bearers = ["reader", "another", "nobody"] as const;
export type Bearer = (typeof bearers)[number];

/** The version under a ref, as its caller writes it. */
export interface GetAsked {
  readonly _tag: "Get";
  readonly bearer: Bearer;
  readonly text: string;
  readonly kind: RefKind;
}

/** What a policy comes to. */
export interface ResolveAsked {
  readonly _tag: "Resolve";
  readonly bearer: Bearer;
  readonly policy: PolicyMeant;
}

export type LookupAsked = GetAsked | ResolveAsked;

/** An entry that is resolved has no code. */
export interface AnsweredEntry {
  readonly pointer: string;
  readonly code: string | undefined;
  readonly duplicateOf: string | undefined;
}

export type LookupAnswer =
  | { readonly _tag: "Got"; readonly row: Rows["approvers"] }
  | {
      readonly _tag: "Resolved";
      readonly entries: ReadonlyArray<AnsweredEntry>;
      readonly policyDigest: string | undefined;
    }
  | { readonly _tag: "Refused"; readonly code: RejectionCode };

/** Why a peer in this state shows no approver at all, if so. */
export const standingRefusal = ({ cluster, fitness, rejoining }: PeerState): RejectionCode | undefined => {
  if (cluster.peer === undefined) return "NOT_INITIALIZED";
  if (fitness.verifying) return "VERIFYING";
  if (!fitness.unsealed) return "SEALED";
  if (fitness.quarantine !== undefined) return "OUTDATED";
  if (cluster.membership === undefined && cluster.promotion.awaits !== undefined) return "RECOVERING";
  return rejoining.recovery?.isReadable === false ? "RECOVERING" : undefined;
};
