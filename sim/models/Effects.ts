/** The effects of a proposal as the simulator's naive registry reads them: one flat record for every command. */
import { memoized } from "../../core/base/Memo.ts";
import type { Approver } from "../../core/commands/approvers/Approver.ts";
import { effectsOf, withEffects } from "../../core/commands/Effects.ts";
import type { Completion } from "../../core/commands/enrollPasskey/Completion.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";

/** Absent unless a finish. */
type OfFinish = {
  readonly [K in "registrationId" | "responseDigest" | "observations" | "credentialIdentity"]?:
    | Completion[K]
    | undefined;
};

export interface Effects extends Omit<Approver, "revision">, OfFinish {
  /** Absent at registration; the revision a replacement builds on. */
  readonly baseRevision?: number | undefined;
  readonly newRevision: number;
}

type Of = Pick<Proposal, "kind" | "effects">;

/** Throws for a proposal that no member would prepare, or that changes no approver. */
export const effectsIn = ({ kind, effects }: Of): Effects => flat(effects, kind);

/** Every checker asks for the same ones, and making a record anew costs more than most rules. */
const flat = memoized((bytes: Uint8Array, of: string): Effects => {
  const effects = effectsOf({ kind: of, effects: bytes });
  if (effects === undefined) throw new Error(`these are no effects of the kind ${of}`);
  const { approver } = effects;
  const finish = effects.kind === "FINISH" ? effects : undefined;
  return {
    id: approver.id,
    ref: approver.ref,
    descriptor: approver.descriptor,
    keyIdentity: approver.keyIdentity,
    metadata: approver.metadata,
    createdAt: approver.createdAt,
    updatedAt: approver.updatedAt,
    baseRevision: effects.kind === "METADATA" ? effects.baseRevision : undefined,
    newRevision: approver.revision,
    registrationId: finish?.registrationId,
    responseDigest: finish?.responseDigest,
    observations: finish?.observations,
    credentialIdentity: finish?.credentialIdentity,
  };
});

/** The commands that change approvers. */
const kinds: ReadonlySet<string> = new Set(["REGISTER", "METADATA", "FINISH"]);

/** The same, but undefined for a command that changes no approver. */
export const onApprover = (proposal: Of): Effects | undefined =>
  kinds.has(proposal.kind) ? effectsIn(proposal) : undefined;

/** The proposal with some of its effects changed; as it is where they cannot be read. */
export const altered = (proposal: Proposal, change: (effects: Effects) => Partial<Effects>): Proposal => {
  const effects = effectsOf(proposal);
  if (effects === undefined) return proposal;
  const { newRevision: revision, ...changed } = { ...effectsIn(proposal), ...change(effectsIn(proposal)) };
  const { id, ref, descriptor, keyIdentity, metadata, createdAt, updatedAt, baseRevision } = changed;
  const approver = { id, ref, descriptor, keyIdentity, metadata, revision, createdAt, updatedAt };
  return withEffects(
    proposal,
    effects.kind === "METADATA"
      ? { ...effects, approver, baseRevision: baseRevision ?? effects.baseRevision }
      : { ...effects, approver },
  );
};
