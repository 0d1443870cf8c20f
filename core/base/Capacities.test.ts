import { expect, it } from "vitest";
import { CAPACITIES } from "./Capacities.ts";

it("are those of the contract", () => {
  // Contract 8, and docs/protocol.md 3.5 and 4h.
  expect(CAPACITIES).toMatchObject({
    preparations: 256,
    refusals: 4_096,
    unacknowledged: 4_096,
    slotWindow: 256,
    proposalsPerMessage: 64,
    evidenceBytes: 4 * 1024 * 1024,
    queuedCommands: 1_024,
    commandsAtOnce: 16,
    sessionsPerRegistrar: 8,
    sessions: 256,
    refusedFinishes: 16,
    refusedFinishesOfActor: 32,
  });
});

it("leave room for what others of them promise", () => {
  const { slotWindow, preparations, heldStatements, queuedCommands, searchWork } = CAPACITIES;
  expect(slotWindow).toBeGreaterThanOrEqual(preparations);
  // Two statements of each of 64 members.
  expect(heldStatements).toBeGreaterThanOrEqual(2 * 64);
  expect(queuedCommands).toBeGreaterThanOrEqual(3);
  // A type and 32 metadata pairs.
  expect(searchWork).toBeGreaterThan(33);
});
