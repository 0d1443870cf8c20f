/** How a mutation stands against one peer's registry, as far as committed rows say. */
import type { Effects } from "../protocol/Proposal.ts";
import type { Rejection } from "../Rejection.ts";
import type { Rows } from "../Tables.ts";

export type Standing =
  /** It can be done, with these effects if it is proposed at that time. */
  | { readonly _tag: "Possible"; readonly effectsAt: (proposedAt: number) => Effects }
  /** What it asks for is there already. */
  | { readonly _tag: "Done"; readonly approver: Rows["approvers"] }
  /** It cannot be done; `isFinal` where no later change of the registry can make it possible. */
  | { readonly _tag: "Impossible"; readonly rejection: Rejection; readonly isFinal: boolean };
