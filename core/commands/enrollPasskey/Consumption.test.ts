import { NEWEST } from "../../codec/Versioned.ts";
import { describe, expect, it } from "vitest";
import { credential, enrolling, finish, offerOf, sessionsOf } from "../../../properties/cluster/Enrolling.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Write } from "../../Tables.ts";
import type { Step } from "../../protocol/Step.ts";
import { registerKey, registerKeyEffects } from "../registerKey/RegisterKey.ts";
import { type Completion, completionOf } from "./Completion.ts";
import { assertConsumable, consume, unconsume } from "./Consumption.ts";
import { enrollments } from "./EnrollmentState.ts";

const another = "22".repeat(32) as Digest;
const cluster = enrolling(1);
const offer = offerOf(cluster, 1, "options");
finish(cluster, 1, "finish", offer.invitation, credential(offer, { signCount: 7 }));
cluster.pass(100);
const { view } = openStep(cluster, 1).context;
const [row] = sessionsOf(cluster, 1);
const effects = row && completionOf(view, row.session.registrationId);
const id = row && view.get("completions", row.session.registrationId)?.proposalId;
if (row === undefined || effects === undefined || id === undefined) throw new Error("a session is finished");
const { approver, registrationId, credentialIdentity, observations } = effects;
const { ref } = approver;
/** The same of an approver of another name. */
const anothers: Completion = { ...effects, approver: { ...approver, ref: "another" } };

/** The writes of a step by which a finish changes rows besides the approver. */
const writesOf = (step: Step): ReadonlyArray<Write> =>
  step
    .finish(() => undefined)
    .writes.filter(({ table }) => ["credentials", "observations", "completions", "sessions"].includes(table));

describe("a certified finish", () => {
  it("may claim what is its own here already, and what nobody has", () => {
    const unowned = { ...effects, credentialIdentity: another, registrationId: another };
    for (const each of [effects, unowned]) expect(() => assertConsumable(openStep(cluster, 1), id, each)).not.toThrow();
  });

  it("claims neither another's credential nor a session that another response has completed", () => {
    expect(() => assertConsumable(openStep(cluster, 1), id, anothers)).toThrow("S8");
    expect(() => assertConsumable(openStep(cluster, 1), another, effects)).toThrow("S15");
  });

  it.each([
    ["lower", 6, 7],
    ["higher", 8, 8],
  ])("takes no counter back: what it says is %s", (_what, signCount, kept) => {
    const step = openStep(cluster, 1);
    consume(step, id, { ...effects, observations: { ...observations, signCount, backupState: true } });
    expect(writesOf(step)).toContainEqual({
      op: "replace",
      table: "observations",
      key: ref,
      row: { ...observations, signCount: kept, backupState: true },
    });
  });
});

describe("an undone finish", () => {
  /** The writes that take back a finish at a peer that has all of it. */
  const credentials = { op: "remove", table: "credentials", key: credentialIdentity };
  const observed = { op: "remove", table: "observations", key: ref };
  const completion = { op: "remove", table: "completions", key: registrationId };
  const session = { op: "replace", table: "sessions", key: registrationId, row: { ...row, completed: undefined } };

  const undone = (of: Digest, what: Completion): { readonly step: Step; readonly writes: ReadonlyArray<Write> } => {
    const step = openStep(cluster, 1);
    unconsume(step, of, what);
    return { step, writes: writesOf(step) };
  };

  it("leaves nothing, and its session open", () => {
    const { step, writes } = undone(id, effects);
    expect(writes).toEqual([credentials, observed, completion, session]);
    expect(step.slice(enrollments).sessions.get(registrationId)?.isCompleted).toBe(false);
  });

  it.each<readonly [string, Digest, Completion, ReadonlyArray<object>]>([
    ["another response's completion", another, effects, [credentials, observed, session]],
    ["another approver's credential and session", id, anothers, [completion]],
    ["what it does not have", id, { ...anothers, credentialIdentity: another, registrationId: another }, []],
  ])("leaves %s", (_what, of, what, writes) => {
    expect(undone(of, what).writes).toEqual(writes);
  });

  it("is none where the approver was registered without a session", () => {
    const step = openStep(cluster, 1);
    registerKey.undo(step, id, registerKeyEffects.encode({ version: NEWEST, approver }));
    expect(writesOf(step)).toEqual([]);
  });

  it("leaves a session as it is that nothing has completed", () => {
    offerOf(cluster, 1, "another");
    const open = sessionsOf(cluster, 1).find(({ completed }) => completed === undefined);
    if (open === undefined) throw new Error("a session is open");
    const { writes } = undone(another, { ...effects, registrationId: open.session.registrationId });
    expect(writes).toEqual([credentials, observed]);
  });
});
