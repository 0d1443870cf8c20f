import { expect, it } from "vitest";
import { prepared } from "../../properties/cluster/Prepared.ts";
import type { Said } from "../requests/Said.ts";
import { type Having, undeserved } from "./Deserved.ts";

const { preparation } = prepared();
const { proposal, own, id } = preparation;

const nothing: Having = { fault: undefined, bound: undefined, isExcluded: false, reserved: 0 };
const token = (kind: "good" | "forbidden" | "forged", expiresAt = Number.MAX_SAFE_INTEGER) => ({
  tokenOf: () => ({ kind, claims: { ...proposal.actor, expiresAt, audience: [], permissions: [] } }),
});

/** A member refuses the proposal by a check, at a time, with what it has. */
const judged = (
  detail: string,
  having: Partial<Having> = {},
  signedAt = proposal.proposedAt,
  tokens: object = token("good"),
  misjudgesTokens = false,
  configDigest: string | undefined = proposal.configDigest,
): string | undefined =>
  undeserved(
    tokens as Said,
    proposal,
    { ...own, header: { ...own.header, signedAt }, statement: { ...own.statement, kind: "REFUSAL", detail } },
    { ...nothing, ...having },
    { misjudgesTokens, configDigest, preparations: 2 },
  );

it.each<readonly [code: string, undeservedly: string | undefined, deservedly: string | undefined]>([
  ["SLOT_TAKEN", judged("SLOT_TAKEN", { bound: id }), judged("SLOT_TAKEN", { bound: "another" })],
  ["EXPIRED", judged("EXPIRED"), judged("EXPIRED", {}, proposal.expiresAt + 1)],
  ["CLOCK_SKEW", judged("CLOCK_SKEW"), judged("CLOCK_SKEW", {}, proposal.proposedAt - 6_000)],
  [
    "CONFIGURATION_DIFFERS",
    judged("CONFIGURATION_DIFFERS"),
    judged("CONFIGURATION_DIFFERS", {}, proposal.proposedAt, token("good"), false, "another"),
  ],
  ["LOCKED", judged("LOCKED"), judged("LOCKED", { isExcluded: true })],
  [
    "PREPARATION_CAPACITY",
    judged("PREPARATION_CAPACITY", { reserved: 1 }),
    judged("PREPARATION_CAPACITY", { reserved: 2 }),
  ],
  [
    "PRECONDITION_FAILED",
    judged("PRECONDITION_FAILED"),
    judged("PRECONDITION_FAILED", { fault: "the revision here is 7" }),
  ],
  ["ACCESS_DENIED", judged("ACCESS_DENIED"), judged("ACCESS_DENIED", {}, proposal.proposedAt, token("forbidden"))],
  ["UNAUTHENTICATED", judged("UNAUTHENTICATED"), judged("UNAUTHENTICATED", {}, proposal.proposedAt, token("forged"))],
  ["UNAUTHENTICATED, late", judged("UNAUTHENTICATED"), judged("UNAUTHENTICATED", {}, 7, token("good", 7))],
  ["UNAUTHENTICATED, keyless", judged("UNAUTHENTICATED"), judged("UNAUTHENTICATED", {}, 7, token("good"), true)],
])("a refusal with %s needs its reason", (_code, undeservedly, deservedly) => {
  expect(undeservedly).toBeTypeOf("string");
  expect(deservedly).toBeUndefined();
});

it("lets no member find fault with what an honest writer never does", () => {
  expect(judged("WRONG_ACTOR", { fault: "anything" })).toBe("its writer and its entry peer are honest");
});
