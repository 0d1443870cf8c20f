import { expect, it } from "vitest";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { turnOf } from "../../properties/cluster/TurnOf.ts";
import { commands } from "../commands/Commands.ts";
import type { Digest } from "../base/Digest.ts";
import { locksOf } from "./Command.ts";
import { hold, release } from "./Preparations.ts";

it("drops no lock that another proposal has taken since", () => {
  const { cluster, preparation } = prepared();
  const { id, proposal } = preparation;
  const turn = turnOf(cluster, 2);
  const [taken, ...others] = locksOf(commands, proposal);
  if (taken === undefined) throw new Error("a registration has locks");
  const another = "ab".repeat(32) as Digest;
  hold(turn, id, proposal);
  turn.edit("locks").set(taken, another);
  release(turn, id, proposal);
  expect(turn.state.locks.get(taken)).toBe(another);
  expect(others.filter((lock) => turn.state.locks.has(lock))).toEqual([]);
});
