import { describe, expect, it } from "vitest";
import type { Answer } from "../core/Action.ts";
import type { ActorCheck } from "../core/auth/ActorCheck.ts";
import { CAPACITIES } from "../core/base/Capacities.ts";
import { commands } from "../core/commands/Commands.ts";
import { actor, settingsOf } from "../properties/cluster/Cluster.ts";
import { cryptoBackend } from "../server/crypto/CryptoBackend.ts";
import { Callers, gateLimits } from "./Callers.ts";
import { CommandGate } from "./CommandGate.ts";
import { Replies } from "./Replies.ts";

const call = { method: "POST", path: "/v1/custody/approvers", ifMatch: undefined, rawBody: new Uint8Array(2) };

/** Who asks at a peer whose driver takes few requests in and is done with none until it is told. */
const start = () => {
  const settings = { ...settingsOf(1, 1), capacities: { ...CAPACITIES, commandsAtOnce: 2, queuedCommands: 8 } };
  const timers: Array<() => void> = [];
  const later = (run: () => void) => {
    timers.push(run);
    return () => undefined;
  };
  const planned: Array<() => void> = [];
  let count = 0;
  const replies = new Replies({ later, newName: () => `r${(count += 1)}` });
  const gate = new CommandGate((run) => {
    planned.push(run);
    return () => undefined;
  }, gateLimits(settings.capacities));
  const done: Array<() => void> = [];
  const entered: Array<string> = [];
  const callers = new Callers({
    settings,
    commands,
    means: cryptoBackend("portable"),
    replies,
    gate,
    dispatch: (_event, consumed) => void (consumed && done.push(consumed)),
    self: () => 1,
  });
  const begin = (sub: string, path = call.path) => {
    const told: Array<Answer> = [];
    if (actor._tag !== "Verified") throw new Error("the actor of tests is verified");
    const own: ActorCheck = { ...actor, claims: { ...actor.claims, sub } };
    const giveUp = callers.mutate(
      { call: { ...call, path }, token: "token", actor: own },
      () => void entered.push(sub),
      (answer) => void told.push(answer),
    );
    return { told, giveUp };
  };
  const ask = (sub: string, path?: string): ReadonlyArray<Answer> => begin(sub, path).told;
  const serveAll = (): void => {
    for (const consumed of done.splice(0)) consumed();
    for (const run of planned.splice(0)) run();
  };
  const passTime = (): void => {
    for (const run of timers.splice(0)) run();
  };
  return { ask, begin, serveAll, passTime, entered, callers };
};

describe("callers that wait for the driver", () => {
  it("lose no place to a flood of another, and are served before the rest of it", () => {
    const { ask, serveAll, entered, callers } = start();
    const flood = Array.from({ length: 50 }, () => ask("flood"));
    const refused = (): ReadonlyArray<Answer> => flood.flat();
    expect(refused().length).toBe(40);
    const others = ["bob", "carol"].map((sub) => ask(sub));
    expect([others.flat(), refused().length, callers.waiting]).toEqual([[], 42, 10]);
    for (const answer of refused()) expect(answer).toMatchObject({ rejection: { code: "REQUEST_CAPACITY" } });
    serveAll();
    serveAll();
    expect(entered).toEqual(["flood", "flood", "flood", "bob", "carol", "flood"]);
  });

  it("give up what the driver does not have yet, and wait on for what it has", () => {
    const { begin, serveAll, entered, callers } = start();
    const asked = ["alice", "bob", "carol", "dan"].map((sub) => begin(sub));
    for (const { giveUp } of asked.slice(0, 3)) giveUp();
    expect(asked.map(({ told }) => told.length)).toEqual([0, 0, 1, 0]);
    expect(callers.waiting).toBe(3);
    serveAll();
    expect(entered).toEqual(["alice", "bob", "dan"]);
  });

  const ofKey = (what: string) => `/v1/custody/keys/k1/${what}`;
  it.each([
    ["a registration", call.path, true, /finds out what became of it/],
    ["a signature", ofKey("sign"), true, /each repetition begins anew/],
    ["a repair", ofKey("repair"), true, /each repetition begins anew/],
    ["an enrollment, which leaves nothing behind", "/v1/custody/approvers/enrollments", false, /Repeat/],
  ])("are told in time whether what they asked for may still be done: %s", (_what, path, outcomeUnknown, hint) => {
    const { ask, passTime } = start();
    const told = ask("alice", path);
    passTime();
    expect(told).toMatchObject([{ rejection: { outcomeUnknown, hint: expect.stringMatching(hint) } }]);
  });
});
