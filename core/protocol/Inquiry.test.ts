import { changed } from "../../properties/cluster/Changed.ts";
import { describe, expect, it } from "vitest";
import { announcedBy } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import type { Inquiry, Recovery } from "./RecoveryState.ts";
import type { RefusedProposal } from "./Undecided.ts";
import type { Step } from "./Step.ts";
import { Limits } from "../base/Limits.ts";
import { inquire, inquireAgain, isMisled, unappliedAt } from "./Inquiry.ts";
import type { MessageOf } from "../Message.ts";
import type { SettleItem } from "./Message.ts";
import { freshRecovery } from "./TakingOver.ts";
import type { PeerId } from "./Topology.ts";

const { cluster: three, preparation } = prepared();
const item: SettleItem = { proposal: preparation.proposal, receipt: preparation.writerReceipt };
const idOf = (at: number): Digest => String(at).padStart(64, "0") as Digest;
const announced = announcedBy(three, 2, 5);
const { recoveryId: nonce } = announced.restoration;
const open = (change: Partial<Inquiry> = {}): Inquiry => ({
  item,
  silent: new Set([1, 3]),
  isOpen: false,
  isShared: false,
  ...change,
});
const numbered = (count: number) => new Map(Array.from({ length: count }, (_, at) => [idOf(at), open()]));

/** A step of the second of three members in the middle of its recovery, but for what is different. */
const recovering = (change: Partial<Recovery> = {}, become: (step: Step) => void = () => undefined): Step => {
  const step = openStep(three, 2);
  step.draft("rejoining").restored = announced;
  step.draft("rejoining").recovery = { ...freshRecovery("the test"), ...change };
  become(step);
  return step;
};
const inquiriesOf = ({ state }: Step) => [...(state.rejoining.recovery?.inquiries ?? [])];
const sent = (step: Step) =>
  step
    .finish(() => undefined)
    .thenSend.flatMap((action) => (action._tag === "Send" ? [[action.to, action.message]] : []));
const question = (count: number) => ({
  _tag: "SettleQuery",
  items: Array.from({ length: count }, () => item),
  demandFinal: false,
  nonce,
});

describe("an incarnation that was made to refuse", () => {
  const refused = (count: number) =>
    new Map(Array.from({ length: count }, (_, at) => [idOf(at), {} as RefusedProposal]));

  it.each([
    ["256 of what only the writer has prepared is", 256, 0, false],
    ["257 of what only the writer has prepared is not", 257, 0, true],
    ["4,095 altogether is", 0, 4_095, false],
    ["4,096 altogether is not", 0, 4_096, true],
  ])("%s one that an honest writer may have had", (_what, writersOwn, refusals, misled) => {
    const recovery = { ...freshRecovery("the test"), writersOwn };
    const { state, capacities } = openStep(three, 2);
    const after = (fields: object) => ({
      capacities,
      state: changed(state, { ...fields, refused: refused(refusals) }),
    });
    expect(isMisled(after({ recovery }))).toBe(misled);
    expect(isMisled(after({ recovery: undefined }))).toBe(false);
  });
});

describe("before a restored member refuses a proposal", () => {
  it("it asks all others what they have of it, by the name of its incarnation", () => {
    const step = recovering();
    inquire(step, [[idOf(1), { ...item, evidence: "with a token in it" } as SettleItem]]);
    expect(inquiriesOf(step)).toEqual([[idOf(1), open()]]);
    expect(sent(step)).toEqual([
      [1, question(1)],
      [3, question(1)],
    ]);
  });

  it("it knows, as the writer, that not only that one has prepared it", () => {
    const step = recovering({}, (each) => void (each.draft("cluster").membership = { ...each.membership, writer: 2 }));
    inquire(step, [[idOf(1), item]]);
    expect(inquiriesOf(step)).toEqual([[idOf(1), open({ isShared: true })]]);
  });

  it("it asks about no more than a writer can have open", () => {
    const step = recovering({ inquiries: numbered(CAPACITIES.preparations - 1) });
    inquire(step, [
      [idOf(1_000), item],
      [idOf(1_001), item],
    ]);
    expect(step.state.rejoining.recovery?.inquiries.size).toBe(CAPACITIES.preparations);
    expect(sent(step)[0]).toEqual([1, question(1)]);
  });

  it("it asks about no more than it could refuse", () => {
    const step = recovering();
    step.draft("undecided").abortsUntil = step.elapsed + (CAPACITIES.aborts - 2) * Limits.abortMillis;
    inquire(step, [
      [idOf(1), item],
      [idOf(2), item],
      [idOf(3), item],
    ]);
    expect(inquiriesOf(step).map(([id]) => id)).toEqual([idOf(1), idOf(2)]);
    inquire(step, [[idOf(4), item]]);
    expect(inquiriesOf(step)).toHaveLength(2);
  });

  it.each<readonly [string, Partial<Recovery>, (step: Step) => void]>([
    ["that it is asking about", { inquiries: new Map([[idOf(1), open({ silent: new Set([3]) })]]) }, () => undefined],
    ["that it has refused", {}, (step) => void step.edit("undecided", "refused").set(idOf(1), {} as RefusedProposal)],
    ["while somebody has its old incarnation on record", {}, (step) => void step.edit("rejoining", "unproven").add(3)],
    ["once it is a member again", {}, (step) => void (step.draft("rejoining").recovery = undefined)],
  ])("it asks nobody about one %s", (_which, change, become) => {
    const step = recovering(change, become);
    const before = inquiriesOf(step);
    inquire(step, [[idOf(1), item]]);
    expect(inquiriesOf(step)).toEqual(before);
    expect(sent(step)).toEqual([]);
  });

  it("it asks again who has not answered, about a message's worth at a time", () => {
    const inquiries = numbered(CAPACITIES.proposalsPerMessage + 1);
    inquiries.set(idOf(0), open({ silent: new Set([3]) }));
    inquiries.set(idOf(1), open({ silent: new Set([3]) }));
    const step = recovering({ inquiries });
    inquireAgain(step, { ...freshRecovery("the test"), inquiries });
    expect(sent(step)).toEqual([
      [1, question(CAPACITIES.proposalsPerMessage - 1)],
      [3, question(CAPACITIES.proposalsPerMessage)],
    ]);
    const answered = recovering();
    inquireAgain(answered, freshRecovery("the test"));
    expect(sent(answered)).toEqual([]);
  });
});

type State = MessageOf<"SettleAnswer">["items"][number]["state"];

describe("what the others say of a proposal that a restored member would refuse", () => {
  const told = (step: Step, from: PeerId, state: State, change: Partial<MessageOf<"SettleAnswer">> = {}) =>
    unappliedAt(step, from, {
      _tag: "SettleAnswer",
      nonce,
      items: [{ proposalId: idOf(1), state, held: [] }],
      ...change,
    });
  const asking = (change: Partial<Recovery> = {}, become?: (step: Step) => void): Step =>
    recovering({ inquiries: new Map([[idOf(1), open()]]), ...change }, become);

  it("is waited for of all of them", () => {
    const step = asking();
    expect(told(step, 1, "PREPARED")).toEqual([]);
    expect(inquiriesOf(step)).toEqual([[idOf(1), open({ silent: new Set([3]), isOpen: true })]]);
    expect(told(step, 3, "UNKNOWN")).toEqual([[idOf(1), item]]);
    expect(inquiriesOf(step)).toEqual([]);
  });

  it.each<readonly [State, State, number, number]>([
    ["UNKNOWN", "UNKNOWN", 0, 0],
    ["REFUSED", "ABORTED", 0, 0],
    ["PREPARED", "UNKNOWN", 1, 1],
    ["PLEDGED", "REFUSED", 1, 1],
    ["PREPARED", "PREPARED", 1, 0],
    ["UNKNOWN", "PREPARED", 1, 0],
    ["UNKNOWN", "PLEDGED", 1, 0],
    ["PREPARED", "APPLIED", 0, 0],
  ])("where the writer says %s and the other %s makes it refuse %i, %i on the writer's word alone", (...each) => {
    const [writers, others, refusing, writersOwn] = each;
    for (const order of [
      [1, 3],
      [3, 1],
    ]) {
      const step = asking();
      const unapplied = order.flatMap((from) => told(step, from, from === 1 ? writers : others));
      expect(unapplied).toHaveLength(refusing);
      expect([inquiriesOf(step), step.state.rejoining.recovery?.writersOwn]).toEqual([[], writersOwn]);
    }
  });

  it("is not waited for any longer where one of them has applied it: that comes with the registry", () => {
    const step = asking();
    expect(told(step, 1, "APPLIED")).toEqual([]);
    expect(inquiriesOf(step)).toEqual([]);
  });

  it.each([
    ["its own, as it was asked as the writer", true, 0, 1, 0],
    ["the writer's alone, with room for it", false, 255, 1, 256],
    ["the writer's alone, past what an honest one has open", false, 256, 0, 257],
    ["known to others too, whatever the writer has claimed", true, 1_000, 1, 1_000],
  ])("counts against the writer where it is the writer's alone: %s", (_whose, isShared, before, refusing, after) => {
    const inquiries = new Map([[idOf(1), open({ silent: new Set([1]), isShared })]]);
    const step = asking({ inquiries, writersOwn: before });
    expect(told(step, 1, "PREPARED")).toHaveLength(refusing);
    expect([inquiriesOf(step), step.state.rejoining.recovery?.writersOwn]).toEqual([[], after]);
  });

  const OTHER = "ab".repeat(32) as Digest;
  const superseded = (step: Step): void => {
    step.draft("rejoining").recovery = {
      ...freshRecovery("the test"),
      inquiries: new Map([[idOf(1), open()]]),
      superseded: 7,
    };
  };

  it.each<readonly [string, Partial<MessageOf<"SettleAnswer">>, (step: Step) => void]>([
    ["it answers another question", { nonce: OTHER }, () => undefined],
    ["nobody asked about it", { items: [{ proposalId: OTHER, state: "APPLIED", held: [] }] }, () => undefined],
    ["somebody has the old incarnation on record", {}, (step) => void step.edit("rejoining", "unproven").add(3)],
    ["this incarnation is to be followed by another one", {}, superseded],
  ])("counts for nothing where %s", (_why, change, become) => {
    const step = asking({}, become);
    expect(told(step, 1, "APPLIED", change)).toEqual([]);
    expect(inquiriesOf(step)).toEqual([[idOf(1), open()]]);
  });

  it("counts once of each of them, and only while it is being restored", () => {
    const step = asking();
    for (const state of ["PREPARED", "APPLIED"] as const) expect(told(step, 1, state)).toEqual([]);
    expect(inquiriesOf(step)).toEqual([[idOf(1), open({ silent: new Set([3]), isOpen: true })]]);
    const member = asking({}, (each) => void (each.draft("rejoining").recovery = undefined));
    expect(told(member, 1, "PREPARED")).toEqual([]);
    expect(member.state.rejoining.recovery).toBeUndefined();
  });
});
