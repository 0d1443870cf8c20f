/** What an operator is told of what it wanted. */
import { expect, it } from "vitest";
import type { Answer } from "../../core/Action.ts";
import { rejection } from "../../core/base/Rejection.ts";
import { crypto } from "../../properties/cluster/Cluster.ts";
import type { DeskAct, Watched } from "./Checker.ts";
import { Ghost } from "./Ghost.ts";
import { S54 } from "./S54.ts";

const PROMISED = 10_000_000;

const late = (outcomeUnknown: boolean): Answer => ({
  _tag: "Rejected",
  rejection: rejection("APPROVER_REPLICATION_UNAVAILABLE", "It was not written in time.", "", { outcomeUnknown }),
});
const done: Answer = { _tag: "Audited", done: true };

/** An operator's request to peer 1, and what happens to it. */
const asked = () => {
  const checker = S54(new Ghost(crypto, 3));
  const happens = (what: DeskAct["what"], answer: Answer | undefined, at: number): void =>
    checker.atDesk?.({ slot: 1 } as Watched, { what, requestId: "a", caller: "", answer, at, promised: PROMISED });
  happens("asked", undefined, 0);
  return happens;
};

it("is that nobody knows, once its time is up", () => {
  expect(() => asked()("told", late(true), PROMISED)).not.toThrow();
  expect(() => asked()("told", late(false), PROMISED)).toThrow("may be done, or may yet be");
  expect(() => asked()("told", done, PROMISED)).toThrow("may be done, or may yet be");
  expect(() => asked()("told", late(true), PROMISED - 1)).toThrow("its time was not up");
});

it("is else what the driver answers, once", () => {
  const happens = asked();
  happens("answered", done, 5);
  expect(() => happens("told", done, 5)).not.toThrow();
  happens("answered", done, 6);
  expect(() => happens("told", done, 7)).toThrow("a caller is told once");
  const other = asked();
  other("answered", late(false), 5);
  expect(() => other("told", done, 5)).toThrow("the driver answered");
});
