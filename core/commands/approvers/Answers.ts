/** The answers to callers whose change stands on every member. */
import type { Approver, Observations } from "./Approver.ts";

export type ApproverAnswer =
  /** `created` tells a new version from an identical retry. */
  | {
      readonly _tag: "Registered";
      readonly created: boolean;
      readonly approver: Approver;
      /** Of a passkey only. */
      readonly observations: Observations | undefined;
    }
  /** The approver carries the new revision. */
  | { readonly _tag: "Replaced"; readonly approver: Approver };
