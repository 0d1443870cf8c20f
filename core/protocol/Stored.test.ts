import { freshRecovery } from "./TakingOver.ts";
import { describe, expect, it } from "vitest";
import { type Cluster, codeOf, founded } from "../../properties/cluster/Cluster.ts";
import { comeBackOn, copyOf, register, stateOf } from "../../properties/cluster/Restoring.ts";
import { heard, openStep, type WholeStep } from "../../properties/cluster/OpenStep.ts";
import type { Message, MessageOf } from "../Message.ts";
import { askStored, missingAt, onStoredAnswer } from "./Stored.ts";

/** Alice is registered; the identical request through peer 3 has been answered by the writer, and by nobody else. */
const asking = (): { readonly cluster: Cluster; readonly ref: string } => {
  const cluster = founded();
  register(cluster, "alice", 7);
  const [ref = ""] = cluster.tables.get(3)?.get("approvers")?.keys() ?? [];
  cluster.tamper = (_from, _to, message) => (message._tag === "StoredAnswer" ? undefined : message);
  cluster.register(3, "retry", "alice", 7);
  cluster.settle();
  return { cluster, ref };
};
const { cluster, ref } = asking();

const sent = (step: WholeStep): ReadonlyArray<Message> =>
  step.finish(() => undefined).thenSend.flatMap((action) => (action._tag === "Send" ? [action.message] : []));

describe("a member that is asked whether it stores an approver", () => {
  const query: MessageOf<"StoredQuery"> = { _tag: "StoredQuery", requestId: "retry", kind: "REGISTER", ref };
  const answers = (change: (step: WholeStep) => void, asked = query): ReadonlyArray<Message> => {
    const step = openStep(cluster, 2);
    change(step);
    return heard(step, 3, asked).thenSend.flatMap((action) => (action._tag === "Send" ? [action.message] : []));
  };

  it("says so, in which incarnation, without a write", () => {
    expect(answers(() => undefined)).toEqual([
      { _tag: "StoredAnswer", requestId: "retry", ref, incarnation: 1, revision: 1 },
    ]);
  });

  it.each<readonly [string, (step: WholeStep) => void]>([
    ["it ran from an old disk", (step) => void (step.draft("fitness").quarantine = "an old disk")],
    ["its rows do not hold", (step) => void (step.draft("fitness").integrityFault = "approvers/alice")],
    ["it is recovering", (step) => void (step.draft("rejoining").recovery = freshRecovery("the test"))],
  ])("says nothing where %s", (_why, change) => {
    expect(answers(change)).toEqual([]);
  });

  it("says nothing where it does not have it", () => {
    expect(answers(() => undefined, { ...query, ref: `bob${ref.slice(5)}` })).toEqual([]);
    expect(answers(() => undefined, { ...query, kind: "UNKNOWN" })).toEqual([]);
  });
});

describe("an entry peer whose writer says that an approver was there", () => {
  const answer: MessageOf<"StoredAnswer"> = {
    _tag: "StoredAnswer",
    requestId: "retry",
    ref,
    incarnation: 1,
    revision: 1,
  };
  /** Whether the request is still waiting when these members have said so. */
  const waits = (...said: ReadonlyArray<readonly [number, Partial<typeof answer>]>): boolean => {
    const step = openStep(cluster, 3);
    for (const [from, change] of said) onStoredAnswer(step, from, { ...answer, ...change });
    return step.state.requests.awaited.has("retry");
  };

  it("answers with the last member that stores it as new as it does itself, in the incarnation on record", () => {
    expect(waits([1, {}], [2, {}])).toBe(false);
    expect(waits([1, {}])).toBe(true);
    expect(waits([1, {}], [1, {}])).toBe(true);
    expect(waits([1, {}], [2, { incarnation: 2 }])).toBe(true);
    expect(waits([1, {}], [2, { revision: 0 }])).toBe(true);
    expect(waits([1, {}], [2, { ref: "another" }])).toBe(true);
    expect(waits([1, {}], [2, { requestId: "another" }])).toBe(true);
  });

  it("tells the caller whose own request has registered it so", () => {
    const toldOf = (isApplied: boolean): unknown => {
      const step = openStep(cluster, 3);
      const awaited = step.state.requests.awaited.get("retry");
      if (awaited === undefined) throw new Error("it waits");
      step.edit("requests", "awaited").set("retry", { ...awaited, isApplied });
      for (const from of [1, 2]) onStoredAnswer(step, from, answer);
      return step.finish(() => undefined).thenSend;
    };
    expect(toldOf(false)).toMatchObject([{ answer: { _tag: "Registered", created: false } }]);
    expect(toldOf(true)).toMatchObject([{ answer: { _tag: "Registered", created: true } }]);
  });

  it("shows nothing newer than what every member has by now", () => {
    const changing = founded();
    register(changing, "alice", 7);
    const [approver = ""] = changing.tables.get(3)?.get("approvers")?.keys() ?? [];
    const held: Array<Message> = [];
    changing.tamper = (from, to, message) => {
      if (message._tag === "Commit" && to === 2) return undefined;
      if (message._tag !== "StoredAnswer" || from !== 2 || held.length > 0) return message;
      held.push(message);
      return undefined;
    };
    changing.register(3, "retry", "alice", 7);
    changing.settle();
    changing.replace(1, "replacement", approver, '"1"', { team: "b" });
    changing.settle();
    const [said] = held;
    if (said === undefined) throw new Error("peer 2 has been asked");
    changing.peers.get(3)?.dispatch({ _tag: "Deliver", from: 2, message: said, actors: [] });
    changing.settle();
    expect([2, 3].map((peerId) => changing.row(peerId, "approvers", approver)?.revision)).toEqual([1, 2]);
    expect(changing.answers.has("retry")).toBe(false);
    changing.tamper = (_from, _to, message) => message;
    changing.pass(3_000);
    expect(changing.answers.get("retry")).toMatchObject({ created: false, approver: { revision: 2 } });
  });

  it("hears no answer to what it has not asked", () => {
    const step = openStep(cluster, 3);
    const awaited = step.state.requests.awaited.get("retry");
    if (awaited === undefined) throw new Error("it waits");
    step.edit("requests", "awaited").set("retry", { ...awaited, storedAt: undefined });
    for (const from of [1, 2]) onStoredAnswer(step, from, answer);
    expect(step.state.requests.awaited.get("retry")).toMatchObject({ storedAt: undefined });
  });

  it("asks again those that have not said so, and no others", () => {
    const step = openStep(cluster, 3);
    onStoredAnswer(step, 1, answer);
    const awaited = step.state.requests.awaited.get("retry");
    if (awaited?.storedAt === undefined) throw new Error("it waits");
    expect(missingAt(step, awaited.storedAt)).toEqual([2]);
    askStored(step, "retry", awaited);
    expect(sent(step)).toEqual([{ _tag: "StoredQuery", requestId: "retry", kind: "REGISTER", ref }]);
  });

  it("hears of it although what was said was lost, within a second", () => {
    const again = asking();
    again.cluster.tamper = (_from, _to, message) => message;
    expect(again.cluster.answers.has("retry")).toBe(false);
    again.cluster.pass(1_000);
    expect(again.cluster.answers.get("retry")).toMatchObject({ _tag: "Registered", created: false });
  });

  it("does not count what a member said in an incarnation that is over", () => {
    const restored = founded();
    const empty = copyOf(restored.tables.get(2));
    register(restored, "alice", 7);
    restored.tamper = (from, _to, message) => (message._tag === "StoredAnswer" && from === 1 ? undefined : message);
    restored.register(3, "retry", "alice", 7);
    restored.settle();
    expect(stateOf(restored, 3).requests.awaited.get("retry")?.storedAt).toEqual(
      new Map([[2, { incarnation: 1, revision: 1 }]]),
    );
    // Its new incarnation stores nothing yet when the writer's own word comes.
    const silence = (message: Message) => (message._tag === "SnapshotOffer" ? undefined : message);
    restored.tamper = (_from, _to, message) => silence(message);
    comeBackOn(restored, 2, empty);
    restored.pass(1_500);
    expect(stateOf(restored, 2).rejoining.recovery).toBeDefined();
    expect(restored.answers.has("retry")).toBe(false);
    restored.tamper = (_from, _to, message) => message;
    restored.pass(5_000);
    expect(codeOf(restored, "retry")).toBe("Registered");
    expect(restored.tables.get(2)?.get("approvers")?.size).toBe(1);
  });
});
