import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { plantedBugs } from "../bugs/PlantedBugs.ts";
import { type Strength, rowsOf, withStrengths } from "./StrengthTable.ts";

const strength = (bug: string, seed: number, isMinimal = true): Strength => {
  return { bug, invariant: "S1", seed, isFirst: isMinimal, before: 9, after: 2, isMinimal };
};

describe("docs/strength.md", () => {
  it("has a row for each planted bug (npm run sim:strength -- --bug NAME --table docs/strength.md)", () => {
    const page = readFileSync(new URL("../../docs/strength.md", import.meta.url), "utf8");
    const rows = rowsOf(page);
    expect(rows.map(({ bug }) => bug)).toEqual(plantedBugs.map(({ name }) => name));
  });

  it("takes in what is measured, keeps what is not, and drops what is gone", () => {
    const page = withStrengths(
      "# Title\n\n",
      [strength("b", 1), strength("gone", 1), strength("a", 3)],
      ["a", "b", "gone"],
    );
    expect(withStrengths(page, [strength("b", 7, false)], ["a", "b", "never"])).toBe(
      "# Title\n\n|bug|breaks|found in seed|deviations|after shrinking|\n|---|---|---|---|---|\n" +
        "|`a`|S1|3|9|2|\n|`b`|S1|≤7|9|2*|\n",
    );
  });
});
