import { describe, expect, it } from "vitest";
import { actor, NOW } from "../../properties/cluster/Cluster.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { fires, heard, turnOf, type WholeTurn, wholeTurn } from "../../properties/cluster/TurnOf.ts";
import type { Answer } from "../Action.ts";
import type { ActorCheck } from "../auth/ActorCheck.ts";
import { installedProviders } from "../credential/SignatureProvider.ts";
import { Limits } from "../base/Limits.ts";
import type { Step } from "../Action.ts";
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

/** A turn that understands the credentials of requests, at the elapsed time given. */
const turnAt = (peerId: PeerId, elapsed = awaited.arrivedAt, now = NOW): WholeTurn => {
  const { state, context } = turnOf(cluster, peerId, now, elapsed);
  return wholeTurn(state, { ...context, providers: installedProviders });
};
/** What a turn sends and answers in the end. */
const out = ({ thenSend }: Step): ReadonlyArray<Answer | Message> =>
  thenSend.flatMap((action): Array<Answer | Message> => {
    if (action._tag === "Send") return [action.message];
    return action._tag === "Reply" ? [action.answer] : [];
  });
const outOf = (turn: WholeTurn): ReadonlyArray<Answer | Message> => out(turn.finish(() => undefined));
const awaiting = (turn: WholeTurn, change: Partial<Awaited> = {}): WholeTurn => {
  turn.edit("requests", "awaited").set("request", { ...awaited, ...change });
  return turn;
};
const withBody = (length: number): Awaited => ({
  ...awaited,
  forward: { ...forward, call: { ...forward.call, rawBody: new Uint8Array(length) } },
});

describe("a command", () => {
  const command = (turn: WholeTurn, call: Call = forward.call) => {
    onCommand(turn, { _tag: "Command", requestId: "next", call, token: "token", actor });
    return outOf(turn);
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
    expect(command(turnAt(3), padded(length))).toMatchObject([expected]);
  });

  it("is refused by a peer whose key is gone, which says so", () => {
    const { state, context } = turnAt(3);
    expect(command(wholeTurn(state, { ...context, signer: undefined }))).toMatchObject([
      { rejection: { members: [{ peerId: 3, reason: "it is sealed" }] } },
    ]);
  });

  it.each<readonly [string, ReadonlyArray<Awaited>, boolean]>([
    ["1,023 others", Array.from({ length: Limits.queuedCommands - 1 }, () => awaited), true],
    ["1,024 others", Array.from({ length: Limits.queuedCommands }, () => awaited), false],
    [
      "bodies that leave just its own room",
      [1, Limits.queuedBytes - 1 - forward.call.rawBody.length].map(withBody),
      true,
    ],
    ["bodies that leave less than that", [1, Limits.queuedBytes - forward.call.rawBody.length].map(withBody), false],
  ])("is taken, or not, beside %s", (_what, others, isTaken) => {
    const turn = turnAt(3);
    turn.edit("requests", "awaited").clear();
    for (const [index, other] of others.entries()) turn.edit("requests", "awaited").set(`other ${index}`, other);
    const refused = command(turn).filter(({ _tag }) => _tag === "Rejected");
    const {
      requests: { entering },
    } = turn.state;
    expect([refused.length === 0, entering.length > 0 || turn.state.requests.awaited.has("next")]).toEqual([
      isTaken,
      isTaken,
    ]);
  });
});

describe("the writer", () => {
  const later = { ...forward, requestId: "later" };
  const receive = (turn: WholeTurn, from: PeerId, change: Partial<typeof forward>, check: ActorCheck = actor) => {
    onForward(turn, from, { ...forward, ...change }, check);
    return outOf(turn);
  };

  it.each<readonly [string, PeerId, Partial<typeof forward>]>([
    ["from anybody but its entry peer", 2, {}],
    ["that its entry peer did not attest", 3, { requestId: later.requestId }],
  ])("hears of no request %s", (_what, from, change) => {
    expect(receive(turnAt(1), from, change)).toEqual([]);
  });

  it("hears of none where it is no writer", () => {
    expect(receive(turnAt(2), 3, {})).toEqual([]);
  });

  it("takes nothing up where something is wrong with it, and says what, unless it is sealed", () => {
    const behind = turnAt(1);
    behind.draft("standing").quarantine = "an old disk";
    const said = (turn: WholeTurn) => out(heard(turn, 3, { _tag: "Forward", forward }, [actor]));
    expect(said(behind)).toMatchObject([
      { outcome: { rejection: { members: [{ peerId: 1, reason: "it ran from an old disk" }] } } },
    ]);
    const sealed = turnAt(1);
    sealed.draft("standing").unsealed = false;
    expect(said(sealed)).toEqual([]);
  });
});

describe("an entry peer", () => {
  it.each<readonly [string, PeerId, boolean]>([
    ["the writer", 1, true],
    ["nobody else", 2, false],
  ])("believes %s that a request was taken up", (_who, from, acknowledged) => {
    const turn = awaiting(turnAt(3), { acknowledged: false });
    onForwarded(turn, from, { _tag: "Forwarded", requestId: "request" });
    expect(turn.state.requests.awaited.get("request")?.acknowledged).toBe(acknowledged);
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
    const turn = awaiting(turnAt(3, elapsed), { arrivedAt: 0, sentAt: 0, ...change });
    turn.draft("probing").writerHeardAt = 500 - Limits.probeWaitMillis;
    onForwardTimer(turn);
    expect(outOf(turn).map(({ _tag }) => _tag)).toEqual(expected);
  });

  it("forwards nothing, and waits for nothing, where nobody waits or something is wrong with it", () => {
    const behind = awaiting(turnAt(3, 9_000), { sentAt: 0 });
    behind.draft("standing").quarantine = "an old disk";
    const idle = turnAt(3, 9_000);
    idle.edit("requests", "awaited").clear();
    for (const turn of [behind, idle]) {
      turn.timers.clear();
      expect(fires(turn, "forward").thenSend).toEqual([]);
    }
  });
});
