/**
 * How a restored member makes its registry that of the others. It walks through the slots in order, its own beside the
 * offered ones: what both have stays, what only the offer has is verified and applied, what only this peer has is taken
 * away, because its old incarnation may have applied what the others aborted. Nobody reads the registry meanwhile, so
 * all steps appear as one (protocol.md 4f).
 */
import type { Digest } from "../base/Digest.ts";
import { type Rows, slotKey } from "./Tables.ts";
import type { Step } from "./Step.ts";
import { writeAudit } from "./Audit.ts";
import { type Certificate, isComplete } from "./Certificate.ts";
import type { MessageOf } from "./Message.ts";
import { proposalId } from "./Proposal.ts";
import { giveUpSlot, passSlot, takeSlot } from "./Slots.ts";
import type { SnapshotItem } from "./Snapshot.ts";
import { nextSpan } from "./SnapshotSpan.ts";
import { isAuthentic, type SignedStatement, signerOf } from "./Statement.ts";
import { epochOf, signersFor } from "./Topology.ts";

type SnapshotOffer = MessageOf<"SnapshotOffer">;

/** A slot that was looked at and holds, offered or this peer's own. */
export interface Settled {
  readonly key: string;
  readonly seq: number;
  readonly id: Digest;
  readonly outcome: "APPLIED" | "ABORTED";
  readonly certificate: Certificate | undefined;
  /** The writer's receipt, which proves that the slot was used. */
  readonly proof: SignedStatement;
}

/** The applied proposal, verified by signatures and digests alone; undefined where it does not hold. */
const appliedOf = (
  step: Step,
  { key, proposalId: id }: SnapshotItem,
  certificate: Certificate,
): Settled | undefined => {
  const { crypto, view } = step.context;
  const { proposal, receipts } = certificate;
  const { epoch, seq } = proposal;
  const members = signersFor(step.membership, proposal);
  const proof = receipts.find((each) => signerOf(each) === members?.writer);
  if (
    members === undefined ||
    proof === undefined ||
    slotKey(epoch, seq) !== key ||
    proposalId(crypto, proposal) !== id
  )
    return undefined;
  // A certificate stored here under the same id was verified before it was written.
  const isVerified = view.get("certificates", id) !== undefined || isComplete(crypto, members, id, certificate);
  const command = step.context.commands.byKind.get(proposal.kind);
  if (!isVerified || command?.isSound(crypto, proposal.effects) !== true) return undefined;
  return { key, seq, id, outcome: "APPLIED", certificate, proof };
};

const abortedOf = (step: Step, { key, proposalId: id }: SnapshotItem, proof: SignedStatement): Settled | undefined => {
  const { kind, proposalId: about, epoch, seq } = proof.statement;
  const isProof = kind === "RECEIPT" && about === id && slotKey(epoch, seq) === key;
  const members = signersFor(step.membership, proof.statement);
  return isProof &&
    members !== undefined &&
    signerOf(proof) === members.writer &&
    isAuthentic(step.context.crypto, members, proof)
    ? { key, seq, id, outcome: "ABORTED", certificate: undefined, proof }
    : undefined;
};

/** A decided slot of this peer's own; its content was verified before it was written. */
export const settledHere = (step: Step, key: string, row: Rows["slots"]): Settled | undefined => {
  const { proposalId: id, outcome, writerReceipt } = row;
  const certificate = outcome === "APPLIED" ? step.context.view.get("certificates", id) : undefined;
  const writer = certificate && epochOf(step.membership, certificate.proposal.seq)?.writer;
  const proof = certificate?.receipts.find((each) => signerOf(each) === writer) ?? writerReceipt;
  if (proof === undefined || (certificate === undefined && outcome !== "ABORTED")) return undefined;
  return { key, seq: proof.statement.seq, id, outcome: certificate ? "APPLIED" : "ABORTED", certificate, proof };
};

/** The number of a slot, by its key. */
export const seqIn = (key: string): number => Number(key.slice(key.indexOf(".") + 1));

/** The last slot before what follows a key: that of the key, or that before the first one of its epoch. */
const seqBefore = (step: Step, key: string, seq: number): number =>
  Math.max(seqIn(key), (epochOf(step.membership, seq)?.topology.firstSlot ?? 1) - 1);

/**
 * Whether a slot could be used when that before it was the last decided one. The writer's own receipt proves an aborted
 * slot, of any number: a writer that lies as a helper must not leave the others without numbers.
 */
const isNear = (step: Step, last: string, seq: number): boolean =>
  seq - seqBefore(step, last, seq) <= step.capacities.slotWindow;

/** Every item of an offer, or undefined where one does not hold or is out of order. */
export const settledOf = (step: Step, { items, after, upTo }: SnapshotOffer): ReadonlyArray<Settled> | undefined => {
  const settled: Array<Settled> = [];
  let last = after;
  for (const item of items) {
    const { key, certificate, writerReceipt } = item;
    if (key <= last || (upTo !== undefined && key > upTo)) return undefined;
    const each =
      certificate !== undefined
        ? appliedOf(step, item, certificate)
        : writerReceipt && abortedOf(step, item, writerReceipt);
    if (each === undefined || !isNear(step, last, each.seq)) return undefined;
    last = key;
    settled.push(each);
  }
  return upTo === undefined || (upTo > after && isNear(step, last, seqIn(upTo))) ? settled : undefined;
};

export interface OwnSlots {
  readonly rows: ReadonlyMap<string, Rows["slots"]>;
  /** How far they reach: to the end of the offer, or to the limit of one transaction. */
  readonly upTo: string | undefined;
}

/** This peer's own slots from `after` to `upTo`, or to the end, as far as they fit. */
export const ownSlots = ({ context, capacities }: Step, after: string, upTo: string | undefined): OwnSlots => {
  const page = context.view.scan("slots", after, capacities.ownSlots);
  const within = page.filter(({ key }) => upTo === undefined || key <= upTo);
  return {
    rows: new Map(within.map(({ key, row }) => [key, row])),
    upTo: within[capacities.ownSlots - 1]?.key ?? upTo,
  };
};

/** Undoes a slot that no other member has; says whether a change was taken back. */
const undo = (step: Step, { proposalId: id }: Rows["slots"]): boolean => {
  const { view } = step.context;
  const certificate = view.get("certificates", id);
  if (certificate === undefined) return false;
  const { proposal } = certificate;
  step.write({ op: "remove", table: "certificates", key: id });
  step.command(proposal).undo(step, id, proposal.effects);
  return true;
};

/** Settles one slot; says whether reads may show a difference. */
const settle = (
  step: Step,
  { key, seq, id, outcome, certificate, proof }: Settled,
  own: Rows["slots"] | undefined,
): boolean => {
  let isSeen = false;
  if (certificate !== undefined) {
    const { proposal } = certificate;
    isSeen = step.command(proposal).install(step, id, proposal.effects);
    if (step.context.view.get("certificates", id) === undefined) {
      step.write({ op: "insert", table: "certificates", key: id, row: certificate });
      writeAudit(step, id, certificate.proposal);
    }
  }
  if (own?.proposalId === id && own.outcome === outcome) passSlot(step, seq, proof);
  else {
    const writerReceipt = outcome === "ABORTED" ? proof : undefined;
    takeSlot(step, key, seq, { proposalId: id, outcome, ack: undefined, writerReceipt }, proof);
  }
  return isSeen;
};

export interface Installed {
  /** The last slot that is settled; absent where there is no more. */
  readonly upTo: string | undefined;
  readonly undone: boolean;
  /** Whether reads may show a difference. */
  readonly isSeen: boolean;
  readonly applied: number;
  /** The highest of these slots; 0 where there is none. */
  readonly decided: number;
  /** The highest that was applied; 0 where there is none. */
  readonly newest: number;
}

/** Replaces this peer's slots in a range by these, and updates its registry to match. */
export const installSettled = (
  step: Step,
  { rows: own, upTo }: OwnSlots,
  settled: ReadonlyArray<Settled>,
): Installed => {
  const wanted = new Map(settled.map((each) => [each.key, each]));
  let undone = false;
  for (const [key, row] of own) {
    const other = wanted.get(key);
    const isSame = other?.id === row.proposalId && other.outcome === row.outcome;
    if (!isSame) undone = undo(step, row) || undone;
    if (other === undefined) giveUpSlot(step, key);
  }
  let isSeen = undone;
  for (const each of settled) isSeen = settle(step, each, own.get(each.key)) || isSeen;
  const applied = settled.filter((each) => each.certificate !== undefined);
  const highest = (slots: ReadonlyArray<Settled>): number => Math.max(0, ...slots.map(({ seq }) => seq));
  return { upTo, undone, isSeen, applied: applied.length, decided: highest(settled), newest: highest(applied) };
};

/**
 * Replaces this peer's part of the registry between two slots by the offered one.
 *
 * @returns how far it came; whether a change was taken away, so that another pass must show that nothing it hid is
 *   missing; whether reads may show a difference; and how many of these slots were applied. Undefined where the offer
 *   does not hold, and then nothing is changed
 */
export const installOffer = (step: Step, offer: SnapshotOffer): Installed | undefined => {
  const all = settledOf(step, offer);
  if (all === undefined) return undefined;
  const own = ownSlots(step, offer.after, offer.upTo);
  return installSettled(
    step,
    own,
    all.filter(({ key }) => own.upTo === undefined || key <= own.upTo),
  );
};

/**
 * The same for slots that the offer's sender has as this peer has them; a change that was hidden here is made visible.
 * Undefined too where this peer's own have changed since it asked.
 */
export const installAlike = (step: Step, { items, after, upTo, alike }: SnapshotOffer): Installed | undefined => {
  const here = nextSpan(step, after);
  if (items.length > 0 || here === undefined || here.upTo !== upTo || here.digest !== alike) return undefined;
  const own = ownSlots(step, after, upTo);
  const settled = [...own.rows].flatMap(([key, row]) => settledHere(step, key, row) ?? []);
  return settled.length < own.rows.size ? undefined : installSettled(step, own, settled);
};
