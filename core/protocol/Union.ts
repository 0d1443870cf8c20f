/**
 * How a cluster comes back whose members are all being restored: no member is left that has everything there is, so
 * the writer, and nobody else, puts all their registries together, and the others take over what it comes to.
 *
 * A certificate proves itself, whoever shows it, so what one disk has applied belongs to the union. It does not where
 * a disk shows that it was aborted or refused: its certificate is then from a life that was taken back. Nor where a
 * newer disk lacks it that holds a change agreed upon in later lives: whoever began the later life first had everything
 * decided that was open in the earlier one, so what is missing there was given up (decision 0015, S26). What the newest
 * disk holds an older one cannot speak against: it is of a branch that was left.
 */
import type { Digest } from "../Digest.ts";
import { Limits } from "../Limits.ts";
import { type Rows, slotKey } from "../Tables.ts";
import type { Turn } from "../Turn.ts";
import type { MessageOf } from "./Message.ts";
import type { Proposal } from "./Proposal.ts";
import { type Installed, installSettled, ownSlots, settledHere, settledOf, type Settled } from "./SnapshotInstall.ts";

/** Slots looked through for the newest change: more than may lie open or aborted between two that are applied. */
const LOOK_BACK = 4 * Limits.slotWindow;

/** How new the lives are that a proposal pins. Every life that begins makes it more, and none makes it less. */
const eraOf = ({ incarnations }: Proposal): number => incarnations.reduce((sum, each) => sum + each, 0);

/** The era of the newest change that is applied here: a writer takes slots upwards. 0 before the first. */
export const newestEra = ({ context: { view }, state, membership }: Turn): number => {
  const { epoch } = membership.topology;
  for (let seq = state.decidedSeq; seq > Math.max(0, state.decidedSeq - LOOK_BACK); seq--) {
    const slot = view.get("slots", slotKey(epoch, seq));
    const certificate = slot?.outcome === "APPLIED" ? view.get("certificates", slot.proposalId) : undefined;
    if (certificate !== undefined) return eraOf(certificate.proposal);
  }
  return 0;
};

/** What no certificate brings back: refused here in this life, or aborted here where the slot is another one's. */
export const voidedHere = ({ context: { view }, state }: Turn): ReadonlyArray<Digest> => [
  ...state.refused.keys(),
  ...view.scan("strays", "", Limits.refusals).map(({ key }) => key as Digest),
];

interface Eras {
  /** Of what is put together here so far, and of the member that offers. */
  readonly here: number;
  readonly there: number;
}

/**
 * What becomes of one slot; undefined where there are two changes in it that were agreed upon in the same lives.
 * Of two that ended otherwise the one that was applied stands, and the other is noted as what it is.
 */
const unionOf = (
  own: Settled | undefined,
  theirs: Settled | undefined,
  { here, there }: Eras,
  voided: Set<Digest>,
): ReadonlyArray<Settled> | undefined => {
  const isSame = own !== undefined && own.id === theirs?.id;
  if (isSame) return [own.outcome === "ABORTED" ? own : theirs];
  /** Of one side, whose newest change is of the era `holder`, against the other one's `lacking`. */
  const stands = (each: Settled | undefined, holder: number, lacking: number): each is Settled =>
    each !== undefined &&
    (each.certificate === undefined ||
      (!voided.has(each.id) && (holder >= lacking || eraOf(each.certificate.proposal) >= lacking)));
  const standing = [...(stands(own, here, there) ? [own] : []), ...(stands(theirs, there, here) ? [theirs] : [])];
  if (standing.length < 2) return standing;
  const applied = standing.filter(({ outcome }) => outcome === "APPLIED");
  if (applied.length === 2) return undefined;
  const kept = applied[0] ?? standing[0];
  for (const each of standing) if (each !== kept) voided.add(each.id);
  return kept === undefined ? [] : [kept];
};

interface United extends Installed {
  readonly voided: ReadonlySet<Digest>;
}

const isVoid = (each: Settled, voided: ReadonlySet<Digest>): boolean =>
  each.certificate !== undefined && voided.has(each.id);

/**
 * Makes this peer's part of the registry that lies between two slots the union of its own and the offered one; as
 * {@link installOffer} otherwise. Undefined, besides, where the two contradict each other.
 */
export const installUnion = (
  turn: Turn,
  offer: MessageOf<"SnapshotOffer">,
  eras: Eras,
  known: ReadonlySet<Digest>,
): United | undefined => {
  const all = settledOf(turn, offer);
  if (all === undefined) return undefined;
  const here = ownSlots(turn, offer.after, offer.upTo);
  const theirs = new Map(all.map((each) => [each.key, each]));
  const keys = new Set([...here.rows.keys(), ...theirs.keys()]);
  const voided = new Set(known);
  const settled: Array<Settled> = [];
  for (const key of [...keys].toSorted()) {
    if (here.upTo !== undefined && key > here.upTo) break;
    const row: Rows["slots"] | undefined = here.rows.get(key);
    const united = unionOf(row && settledHere(turn, key, row), theirs.get(key), eras, voided);
    if (united === undefined) return undefined;
    settled.push(...united.filter((each) => !isVoid(each, voided)));
  }
  return { ...installSettled(turn, here, settled), voided };
};
