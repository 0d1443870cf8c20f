import { describe, expect, it } from "vitest";
import { actor, NOW } from "../../properties/cluster/Cluster.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { fires, heard, openStep, type WholeStep, wholeStep } from "../../properties/cluster/OpenStep.ts";
import type { Answer } from "../Action.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { installedProviders } from "../credential/SignatureProvider.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import type { StepResult } from "../Action.ts";
import type { Awaited } from "./Requests.ts";
import { onCommand, onForward, onForwarded, onForwardTimer } from "./Entry.ts";
import type { Call } from "./Forward.ts";
import type { Message } from "../Message.ts";
import type { PeerId } from "./Topology.ts";

/** Alice is registered through peer 3, and prepared everywhere: no vote has reached anybody. */
const { cluster } = prepared(3, undefined, 3);
const awaited = stateOf(cluster, 3).requests.awaited.get("request");
if (awaited === undefined) throw new Error("it is under way");
const { forward } = awaited;

/** A step that understands the credentials of requests, at the elapsed time given. */
const stepAt = (peerId: PeerId, elapsed = awaited.arrivedAt, now = NOW): WholeStep => {
  const { state, context } = openStep(cluster, peerId, now, elapsed);
  return wholeStep(state, { ...context, providers: installedProviders });
};
/** The messages and answers of a step in the end. */
const out = ({ thenSend }: StepResult): ReadonlyArray<Answer | Message> =>
  thenSend.flatMap((action): Array<Answer | Message> => {
    if (action._tag === "Send") return [action.message];
    return action._tag === "Reply" ? [action.answer] : [];
  });
const outOf = (step: WholeStep): ReadonlyArray<Answer | Message> => out(step.finish(() => undefined));
const awaiting = (step: WholeStep, change: Partial<Awaited> = {}): WholeStep => {
  step.edit("requests", "awaited").set("request", { ...awaited, ...change });
  return step;
};
const withBody = (length: number): Awaited => ({
  ...awaited,
  forward: { ...forward, call: { ...forward.call, rawBody: new Uint8Array(length) } },
});

describe("a command", () => {
  const command = (step: WholeStep, call: Call = forward.call) => {
    onCommand(step, { _tag: "Command", requestId: "next", call, token: "token", actor });
    return outOf(step);
  };
  const padded = (length: number): Call => {
    const rawBody = new Uint8Array(length).fill(0x20);
    rawBody.set(forward.call.rawBody);
    return { ...forward.call, rawBody };
  };

  it.each([
    [Limits.requestBodyBytes, { _tag: "Forward" }],
    [Limits.requestBodyBytes + 1, { rejection: { detail: expect.stringContaining("too large") } }],
  ])("may have a body of 256 KiB and not a byte more: %i", (length, expected) => {
    expect(command(stepAt(3), padded(length))).toMatchObject([expected]);
  });

  it("is refused by a peer whose key is gone, which says so", () => {
    const { state, context } = stepAt(3);
    expect(command(wholeStep(state, { ...context, signer: undefined }))).toMatchObject([
      { rejection: { members: [{ peerId: 3, reason: "it is sealed" }] } },
    ]);
  });

  it.each<readonly [string, ReadonlyArray<Awaited>, boolean]>([
    ["1,023 others", Array.from({ length: CAPACITIES.queuedCommands - 1 }, () => awaited), true],
    ["1,024 others", Array.from({ length: CAPACITIES.queuedCommands }, () => awaited), false],
    [
      "bodies that leave just its own room",
      [1, Limits.queuedBytes - 1 - forward.call.rawBody.length].map(withBody),
      true,
    ],
    ["bodies that leave less than that", [1, Limits.queuedBytes - forward.call.rawBody.length].map(withBody), false],
  ])("is taken, or not, beside %s", (_what, others, isTaken) => {
    const step = stepAt(3);
    step.edit("requests", "awaited").clear();
    for (const [index, other] of others.entries()) step.edit("requests", "awaited").set(`other ${index}`, other);
    const refused = command(step).filter(({ _tag }) => _tag === "Rejected");
    const {
      requests: { entering },
    } = step.state;
    expect([refused.length === 0, entering.length > 0 || step.state.requests.awaited.has("next")]).toEqual([
      isTaken,
      isTaken,
    ]);
  });
});

describe("the writer", () => {
  const later = { ...forward, requestId: "later" };
  const receive = (step: WholeStep, from: PeerId, change: Partial<typeof forward>, check: ActorCheck = actor) => {
    onForward(step, from, { ...forward, ...change }, check);
    return outOf(step);
  };

  it.each<readonly [string, PeerId, Partial<typeof forward>]>([
    ["from anybody but its entry peer", 2, {}],
    ["that its entry peer did not attest", 3, { requestId: later.requestId }],
  ])("hears of no request %s", (_what, from, change) => {
    expect(receive(stepAt(1), from, change)).toEqual([]);
  });

  it("hears of none where it is no writer", () => {
    expect(receive(stepAt(2), 3, {})).toEqual([]);
  });

  it("takes nothing up where something is wrong with it, and says what, unless it is sealed", () => {
    const behind = stepAt(1);
    behind.draft("fitness").quarantine = "an old disk";
    const said = (step: WholeStep) => out(heard(step, 3, { _tag: "Forward", forward }, [actor]));
    expect(said(behind)).toMatchObject([
      { outcome: { rejection: { members: [{ peerId: 1, reason: "it ran from an old disk" }] } } },
    ]);
    const sealed = stepAt(1);
    sealed.draft("fitness").unsealed = false;
    expect(said(sealed)).toEqual([]);
  });
});

describe("an entry peer", () => {
  it.each<readonly [string, PeerId, boolean]>([
    ["the writer", 1, true],
    ["nobody else", 2, false],
  ])("believes %s that a request was taken up", (_who, from, acknowledged) => {
    const step = awaiting(stepAt(3), { acknowledged: false });
    onForwarded(step, from, { _tag: "Forwarded", requestId: "request" });
    expect(step.state.requests.awaited.get("request")?.acknowledged).toBe(acknowledged);
  });

  it.each<readonly [string, Partial<Awaited>, number, ReadonlyArray<string>]>([
    ["less than half a second after it was not taken up", { acknowledged: false }, 499, []],
    ["half a second after it was not taken up", { acknowledged: false }, 500, ["Forward"]],
    ["less than two seconds after it was taken up", { acknowledged: true }, 1_999, []],
    ["two seconds after it was taken up", { acknowledged: true }, 2_000, ["Forward"]],
    [
      "until the writer has been silent for so long",
      { acknowledged: false, forwardedAt: 500 - Limits.probeWaitMillis + 1 },
      500,
      ["Forward"],
    ],
    [
      "no more when the writer has been silent for so long",
      { acknowledged: false, forwardedAt: 500 - Limits.probeWaitMillis },
      500,
      ["Rejected"],
    ],
  ])("forwards a request again %s", (_when, change, elapsed, expected) => {
    const step = awaiting(stepAt(3, elapsed), { arrivedAt: 0, sentAt: 0, ...change });
    step.draft("probing").writerHeardAt = 500 - Limits.probeWaitMillis;
    onForwardTimer(step);
    expect(outOf(step).map(({ _tag }) => _tag)).toEqual(expected);
  });

  it("forwards nothing, and waits for nothing, where nobody waits or something is wrong with it", () => {
    const behind = awaiting(stepAt(3, 9_000), { sentAt: 0 });
    behind.draft("fitness").quarantine = "an old disk";
    const idle = stepAt(3, 9_000);
    idle.edit("requests", "awaited").clear();
    for (const step of [behind, idle]) {
      step.timers.clear();
      expect(fires(step, "forward").thenSend).toEqual([]);
    }
  });
});
