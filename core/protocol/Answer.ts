/** The answers of agreement to callers and operators, and how it names those of commands and modules. */
import type { MemberFault, Rejection } from "../base/Rejection.ts";
import type { PromotionStatus } from "./PromotionStatus.ts";

export type ProtocolAnswer =
  | { readonly _tag: "Initialized" }
  /** Rows stored from now on are sealed with the integrity key of this version. */
  | { readonly _tag: "Rotated"; readonly version: number }
  /** From now on the vault opens with other shares. */
  | { readonly _tag: "Rekeyed" }
  /** Whether the operators' acts are in the audit; not while the peer is sealed or its rows do not hold. */
  | { readonly _tag: "Audited"; readonly done: boolean }
  /** A restore was declared; the incarnation is known once the peer is unsealed. */
  | { readonly _tag: "Restoring"; readonly incarnation: number | undefined }
  /** Empty when a change would be accepted now. */
  | { readonly _tag: "Readiness"; readonly faults: ReadonlyArray<MemberFault> }
  /** The promotion that was asked for is pinned, and how far it is; absent after a dry run that found nothing. */
  | { readonly _tag: "Promotion"; readonly promotion: PromotionStatus | undefined }
  | { readonly _tag: "Rejected"; readonly rejection: Rejection };

/** A success, made by a command or a module; agreement never looks into it. */
export interface Success {
  readonly _tag: string;
}

export type Answer = ProtocolAnswer | Success;
