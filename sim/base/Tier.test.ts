import { expect, it } from "vitest";
import { type Tier, tierOf, tiers } from "./Tier.ts";

it("gives one seed in sixteen to the middle tier and one in 512 to the real one, wherever one begins to count", () => {
  for (const first of [0, 1, 9, 2 ** 48 - 512]) {
    const drawn = Array.from({ length: 512 }, (_, index) => tierOf(first + index));
    const count = (tier: Tier) => drawn.filter((each) => each === tier).length;
    expect(tiers.map(count)).toEqual([479, 32, 1]);
  }
});
