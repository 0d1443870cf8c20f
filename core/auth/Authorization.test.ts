import { Either } from "effect";
import { expect, it } from "vitest";
import { keyActor } from "../../properties/cluster/PlantedKeys.ts";
import { authorize } from "./Authorization.ts";

const clock = { now: 0, asBefore: [], settings: { audience: "custody", issuer: undefined } };

it.each([
  ["a token", "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ0ZXN0In0.c2lnbmF0dXJl"],
  ["lines", "two\nlines.public"],
  ["a key id", "k1"],
])("a refusal repeats nothing of what was sent as a key id: %s", (_what, sent) => {
  const refused = authorize(clock, keyActor, ["service.dkg.rotate", `service.key.${sent}.public`]);
  expect(Either.isLeft(refused) && refused.left).toMatchObject({
    code: "ACCESS_DENIED",
    detail: "The permission service.dkg.rotate or service.key.<keyId>.public is missing.",
  });
});
