import { expect, it } from "vitest";
import { type Tier, tierOf, tiers } from "./Tier.ts";

it("gives one seed in sixteen to the middle tier and one in 256 to the real one, wherever one begins to count", () => {
  for (const first of [0, 1, 9, 2 ** 48 - 256]) {
    const drawn = Array.from({ length: 256 }, (_, index) => tierOf(first + index));
    const count = (tier: Tier) => drawn.filter((each) => each === tier).length;
    expect(tiers.map(count)).toEqual([239, 16, 1]);
  }
});
