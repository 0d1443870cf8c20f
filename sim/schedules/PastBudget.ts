/** Runs past the budget: more members fail than the protocol promises to stand. */
import type { Choices } from "../base/Choices.ts";
import { betray, treasonNames } from "../faults/Treason.ts";
import { moments } from "../moments/Moments.ts";
import type { Nemesis } from "../world/World.ts";
import { happens } from "./Schedule.ts";

/** Two members or more are lost or faulty, each in its own way; one at least is left. */
export const tooMany = (choices: Choices, peers: number): ReadonlyArray<Nemesis> => {
  const spared = choices.plan("spared member").between("peer", 1, 1, peers);
  const others = Array.from({ length: peers }, (_, index) => index + 1).filter((slot) => slot !== spared);
  const bad = others.filter((slot, index) => index < 2 || happens(choices, `peer ${slot} is bad too`, 300));
  return bad.map((slot) => {
    const unit = choices.plan(`what becomes of peer ${slot}`);
    if (unit.chance("is lost", 500)) return moments.loseOne(choices, slot);
    return slot === 1
      ? betray(unit.named("betrays as", "lying writer", treasonNames, [1, 1, 1, 1, 1, 1]), slot)
      : betray("equivocating refuser", slot);
  });
};
