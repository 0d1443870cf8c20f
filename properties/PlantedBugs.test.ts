import { expect, it } from "vitest";
import { plantedBugs } from "../sim/bugs/PlantedBugs.ts";
import { checkerIds } from "../sim/checkers/Checkers.ts";

it("has a planted bug for each checker", () => {
  const shown = new Set(plantedBugs.map((bug) => bug.finds));
  expect(checkerIds.filter((id) => !shown.has(id))).toEqual([]);
});
