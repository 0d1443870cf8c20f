/** Callers' requests and answers, and starts and ends of real processes; all in microseconds of one clock. */
import type { Answer } from "../../core/Action.ts";
import type { Rows } from "../../core/Tables.ts";
import type { Command, Replacement, TokenKind } from "../../sim/requests/Commands.ts";
import type { Finish, Invite } from "../../sim/requests/EnrollmentRequests.ts";
import type { KeyRequest } from "../../sim/requests/KeyRequests.ts";

/** The contents of a request, as far as its answer is judged by them. */
export type Said =
  | KeyRequest
  | Pick<Command, "kind" | "id" | "descriptor" | "keyName" | "team">
  | Pick<Replacement, "kind" | "ref" | "ifMatch" | "team">
  | Pick<Invite, "kind" | "id">
  | Pick<
      Finish,
      "kind" | "id" | "team" | "descriptor" | "keyName" | "isHonest" | "signCount" | "registrationId" | "credentialName"
    >;

/** Requests about keys, whole. */
export const isOfKeys = (said: Said): said is KeyRequest =>
  said.kind === "KEYGEN" || said.kind === "DESTROY" || said.kind === "SIGN" || said.kind === "REPAIR";

/** A request that was sent. */
export interface Asked {
  readonly requestId: string;
  /** The peer it was sent to. */
  readonly slot: number;
  readonly said: Said;
  readonly token: TokenKind;
  readonly at: number;
}

export type Moment =
  /** A process of a peer is about to be started, or to go on. */
  | { readonly _tag: "Up"; readonly at: number; readonly slot: number }
  /** A process of a peer is known to have ended, or to stand still. */
  | { readonly _tag: "Down"; readonly at: number; readonly slot: number }
  /** A peer that has ended was given an older disk. */
  | {
      readonly _tag: "PutBack";
      readonly at: number;
      readonly slot: number;
      /** The number of the last transaction on that disk. */
      readonly transactions: number;
      /** Whether its operator declares it before the peer is unsealed, or the peer finds it out itself. */
      readonly how: "declared" | "found out";
    }
  /** A caller has waited longer than the service takes for an answer. */
  | {
      readonly _tag: "Unanswered";
      readonly at: number;
      readonly from: number;
      readonly slot: number;
      readonly what: string;
    }
  /** A request is about to be sent; it may never be answered. */
  | { readonly _tag: "Asked"; readonly at: number; readonly asked: Asked }
  | {
      readonly _tag: "Replied";
      readonly at: number;
      readonly asked: Asked;
      readonly answer: Answer;
      /** As it was sent, without an invitation in it. */
      readonly body: string;
    }
  /** An approver was read whose registration had been promised before the question was sent. */
  | {
      readonly _tag: "Read";
      readonly at: number;
      /** When the question was sent. */
      readonly from: number;
      readonly slot: number;
      readonly ref: string;
      readonly found: Rows["approvers"] | undefined;
      /** As it was sent. */
      readonly body: string;
    };

/** Microseconds on the clock that all processes of this machine share and that only goes forward. */
export const microsNow = (): number => Number(process.hrtime.bigint() / 1000n);
