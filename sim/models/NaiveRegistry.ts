/**
 * What members have by now, from first principles: what callers asked for, and what each member had durably stored. It
 * shares no code with the members' own checks. Commands that change the same subjects have one in common.
 */
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { RowView, Write } from "../../core/Tables.ts";
import type { Said } from "../requests/Said.ts";

export interface NaiveRegistry {
  /** Why a proposal is not what its caller asked for, whoever signs it. */
  readonly contentFault: (proposal: Proposal) => string | undefined;
  /** Why a member should not sign a proposal by what it has. */
  readonly memberFault: (slot: number, proposal: Proposal) => string | undefined;
  /** Tells, of what a member has reserved, whether a proposal must wait for it. */
  readonly excludes: (proposal: Proposal) => (reserved: Proposal) => boolean;
  /** From now on a member has what is on its disk, instead of what it had done before. */
  readonly restored: (slot: number, view: RowView) => void;
  /** A change that a member has made durable. */
  readonly noted: (slot: number, write: Write) => void;
}

/** What a naive registry begins with. */
export interface Basis {
  readonly crypto: Crypto;
  readonly said: Said;
  /** How many members there are. */
  readonly total: number;
}
