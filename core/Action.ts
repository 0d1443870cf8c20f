/** What a step asks the driver to do, and the answers it gives to callers. */
import type { TimerName } from "./Event.ts";
import type { Message } from "./protocol/Message.ts";
import type { PeerId } from "./protocol/Topology.ts";
import type { MemberFault, Rejection } from "./Rejection.ts";
import type { Rows } from "./Tables.ts";
import type { CreationOptions } from "./webauthn/CreationOptions.ts";

/** A session as its registrar is told of it (contract 4.1, "Options response"). */
export interface Offer {
  /** Both unpadded Base64url. */
  readonly registrationId: string;
  readonly invitation: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  readonly publicKey: CreationOptions;
}

export type Answer =
  /** The approver stands on every member; `created` tells a new version from an identical retry. */
  | {
      readonly _tag: "Registered";
      readonly created: boolean;
      readonly approver: Rows["approvers"];
      /** Of a passkey only. */
      readonly observations: Rows["observations"] | undefined;
    }
  /** Every member has the new metadata; the approver carries the new revision. */
  | { readonly _tag: "Replaced"; readonly approver: Rows["approvers"] }
  /** Every member keeps the session; nobody else is ever told the invitation. */
  | { readonly _tag: "Offered"; readonly offer: Offer }
  | { readonly _tag: "Initialized" }
  /** What is stored from now on is sealed with the integrity key of this version. */
  | { readonly _tag: "Rotated"; readonly version: number }
  /** The vault opens by other shares from now on. */
  | { readonly _tag: "Rekeyed" }
  /** Whether what operators did is in the audit; not while the peer is sealed or its rows do not hold. */
  | { readonly _tag: "Audited"; readonly done: boolean }
  /** A restore was declared; the incarnation is known once the peer is unsealed. */
  | { readonly _tag: "Restoring"; readonly incarnation: number | undefined }
  /** Empty when a mutation would be accepted now. */
  | { readonly _tag: "Readiness"; readonly faults: ReadonlyArray<MemberFault> }
  | { readonly _tag: "Rejected"; readonly rejection: Rejection };

/** A message to one member, or to every other member. */
export interface Send {
  readonly _tag: "Send";
  readonly to: PeerId;
  readonly message: Message;
}

export interface Reply {
  readonly _tag: "Reply";
  readonly requestId: string;
  readonly answer: Answer;
}

/** Arms a timer, replacing it if it runs already. */
export interface SetTimer {
  readonly _tag: "SetTimer";
  readonly timer: TimerName;
  readonly afterMillis: number;
}

export type Action = Send | Reply | SetTimer;
