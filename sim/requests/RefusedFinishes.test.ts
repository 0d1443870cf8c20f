import { expect, it } from "vitest";
import { RefusedFinishes } from "./RefusedFinishes.ts";

const sender = { registrationId: "session 1", sub: "alice" };
const capacities = { refusedFinishes: 2, refusedFinishesOfActor: 3 };

it("finds a response one too many before as many were refused as may be", () => {
  const finishes = new RefusedFinishes(capacities);
  finishes.asked(sender);
  finishes.asked(sender);
  expect(() => finishes.tooMany("r", sender)).toThrow("1 other responses of session session 1");
  finishes.asked(sender);
  finishes.tooMany("r", sender);
  finishes.succeeded(sender);
  expect(() => finishes.tooMany("r", sender)).toThrow("S30");
});

it("counts a copy of a good response that the writer has refused for its session, and not for its subject", () => {
  const finishes = new RefusedFinishes(capacities);
  finishes.asked(sender);
  finishes.asked(sender);
  finishes.copied(sender, "KEY_ALREADY_REGISTERED");
  expect(() => finishes.tooMany("r", sender)).not.toThrow();
  finishes.asked({ ...sender, registrationId: "session 2" });
  expect(() => finishes.tooMany("r", { ...sender, registrationId: "session 2" })).toThrow("2 of subject alice");
});

it("counts a copy of a bad one for both", () => {
  const finishes = new RefusedFinishes(capacities);
  finishes.asked(sender);
  finishes.asked(sender);
  finishes.copied(sender, "INVALID_CEREMONY");
  finishes.asked({ ...sender, registrationId: "session 2" });
  expect(() => finishes.tooMany("r", { ...sender, registrationId: "session 2" })).not.toThrow();
});

it("counts those of a subject over all sessions", () => {
  const finishes = new RefusedFinishes(capacities);
  for (const registrationId of ["1", "2", "3"]) finishes.asked({ ...sender, registrationId });
  expect(() => finishes.tooMany("r", { ...sender, registrationId: "3" })).toThrow("2 of subject alice");
  finishes.asked({ ...sender, registrationId: "4" });
  finishes.tooMany("r", { ...sender, registrationId: "4" });
});
