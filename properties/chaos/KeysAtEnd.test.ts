/** Who helps a real peer to the shares that went with an older disk, and to which of them. */
import { expect, it } from "vitest";
import type { ShownKey } from "./KeyAnswerText.ts";
import { helpFor, renewalOf } from "./KeysAtEnd.ts";

/** Which generation was made by a peer alone, and which are no more kept. */
interface Made {
  readonly whole?: number;
  readonly destroyed?: number;
  /** One that peer 1 does not show just now. */
  readonly unshown?: number;
}

/** A key of two that sign, with as many generations as there are shares at the newest holder; peer 1 lacks its share. */
const helped = async (shares: ReadonlyArray<ReadonlyArray<number>>, { whole, destroyed, unshown }: Made = {}) => {
  const newest = Math.max(...shares.flat());
  const shown = (slot: number, generation: number): ShownKey => {
    const isMissing = generation !== destroyed && shares[slot - 1]?.includes(generation) !== true;
    // What is whole at one peer the others do not lack.
    const health = isMissing && !(generation === whole && slot !== 1) ? "SHARE_MISSING" : "OK";
    const state = generation === destroyed ? "DESTROYED" : generation === newest ? "ACTIVE" : "HISTORICAL";
    const total = generation === whole ? 1 : shares.length;
    const threshold = generation === whole ? 1 : 2;
    return { keyId: "k1", currentGeneration: newest, threshold, total, health, generation: { state } } as ShownKey;
  };
  const read = (slot: number, _keyId: string, generation = newest): Promise<ShownKey | undefined> =>
    Promise.resolve(slot === 1 && generation === unshown ? undefined : shown(slot, generation));
  const holders = shares.flatMap((each, at) => (each.includes(newest) ? [at + 1] : []));
  return await helpFor({ read }, 1, shown(1, newest), holders);
};

it("are those that have all that is lacking, before any that only have what signs", async () => {
  expect(await helped([[1], [1, 3], [1, 2, 3], [2, 3]])).toEqual({ helpers: [3, 4], isForAll: true });
  expect(await helped([[1, 2], [3], [3], [1, 2, 3]])).toEqual({ helpers: [2, 3], isForAll: true });
  expect(await helped([[], [2], [1, 2]], { destroyed: 1 })).toEqual({ helpers: [2, 3], isForAll: true });
});

it("give only what signs where too few have all that is lacking", async () => {
  expect(await helped([[1], [1, 3], [1, 2, 3]])).toEqual({ helpers: [2, 3], isForAll: false });
});

it("give only what is shared where a generation that was whole there is lost", async () => {
  expect(await helped([[], [2], [2]], { whole: 1 })).toEqual({ helpers: [2, 3], isForAll: false });
  expect(await helped([[1], [2], [2]], { whole: 1 })).toEqual({ helpers: [2, 3], isForAll: true });
});

it("is nobody's where fewer have what signs than sign", async () => {
  expect(await helped([[1], [1, 2], [1]])).toBeUndefined();
});

it("give no more than what signs for certain where something is not shown", async () => {
  expect(await helped([[1], [2], [1, 2]], { unshown: 1 })).toEqual({ helpers: [2, 3], isForAll: false });
  expect(await helped([[1], [2], [1, 2]])).toEqual({ helpers: [2, 3], isForAll: true });
});

it("can give nothing of a key that went as a whole: it is made anew, and any other is refreshed", async () => {
  const read =
    (...healths: ReadonlyArray<string | undefined>) =>
    (slot: number): Promise<ShownKey | undefined> =>
      Promise.resolve({ health: healths[slot - 1] } as ShownKey);
  expect(await renewalOf({ read: read("OK", "OK", "OK") }, [1, 2, 3], "k1")).toBe("refresh");
  expect(await renewalOf({ read: read("SHARE_MISSING", "OK", "OK") }, [1, 2, 3], "k1")).toBe("rotate");
});
