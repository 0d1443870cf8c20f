import { expect, it } from "vitest";
import { Violation } from "../base/Violation.ts";
import { FinishClaims } from "./FinishClaims.ts";

const first = { registrationId: "aa", credentialName: "localhost x", response: "one" };
const second = { registrationId: "aa", credentialName: "localhost y", response: "two" };
const third = { registrationId: "bb", credentialName: "localhost x", response: "three" };

it("takes a response for itself, however often it is sent", () => {
  const claims = new FinishClaims();
  for (const each of [first, first]) claims.asked(each);
  expect(() => claims.refused("r1", first, "REGISTRATION_COMPLETED")).toThrow(Violation);
  expect(() => claims.refused("r1", first, "CREDENTIAL_ALREADY_REGISTERED")).toThrow(Violation);
  expect(() => claims.refused("r1", first, "REGISTRATION_EXPIRED")).not.toThrow();
});

it("lets another response for a session, or with a credential, have taken it", () => {
  const claims = new FinishClaims();
  for (const each of [first, second]) claims.asked(each);
  expect(() => claims.refused("r1", first, "REGISTRATION_COMPLETED")).not.toThrow();
  expect(() => claims.refused("r1", first, "CREDENTIAL_ALREADY_REGISTERED")).toThrow(Violation);
  claims.asked(third);
  expect(() => claims.refused("r1", first, "CREDENTIAL_ALREADY_REGISTERED")).not.toThrow();
  expect(() => claims.refused("r3", third, "REGISTRATION_COMPLETED")).toThrow(Violation);
});
