import { expect, it } from "vitest";
import { type Tier, tierOf, tiers } from "./Tier.ts";

it("gives one seed in sixteen to each tier that is not fast, wherever one begins to count", () => {
  for (const first of [0, 1, 7, 2 ** 48 - 16]) {
    const drawn = Array.from({ length: 16 }, (_, index) => tierOf(first + index));
    const count = (tier: Tier) => drawn.filter((each) => each === tier).length;
    expect(tiers.map(count)).toEqual([14, 1, 1]);
  }
});
