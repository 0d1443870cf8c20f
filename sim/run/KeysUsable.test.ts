/** Which lost share must be repaired once everything works. */
import { expect, it } from "vitest";
import type { Rows } from "../../core/Tables.ts";
import { generationKey } from "../checkers/KeyFacts.ts";
import { mapView } from "../disks/MapView.ts";
import { owedRepair } from "./KeysUsable.ts";

/** A generation that was whole at one peer before a promotion, or is shared by all. */
const generation = (number: number, state: "ACTIVE" | "HISTORICAL", isWhole: boolean) => {
  const verifyingShares = isWhole ? [] : [1, 2, 3].map((index) => ({ index, element: `${index}` }));
  return { keyId: "k1", generation: number, state, group: { verifyingShares } } as unknown as Rows["generations"];
};

type Row = Rows["generations"] | Rows["shares"];

const SOURCE = 2;

/** Peers that have the same generations, and each the shares of some; two sign. */
const owed = (rows: ReadonlyArray<Rows["generations"]>, shares: ReadonlyArray<ReadonlyArray<number>>) => {
  const named = new Map<string, Row>(rows.map((row) => [generationKey("k1", row.generation), row]));
  const peers = shares.map((numbers, at) => {
    const own = new Map<string, Row>(numbers.map((each) => [generationKey("k1", each), {} as Rows["shares"]]));
    return { slot: at + 1, store: mapView(new Map([["generations", named] as const, ["shares", own] as const])) };
  });
  const found = owedRepair(peers, 2, SOURCE);
  return found && { slot: found.peer.slot, helpers: found.helpers, isForAll: found.isForAll };
};

const whole = generation(1, "HISTORICAL", true);
const before = generation(1, "HISTORICAL", false);
const shared = generation(2, "ACTIVE", false);

it("is one of a key that was whole at a peer which still has that", () => {
  expect(owed([whole, shared], [[2], [1], [2]])).toEqual({ slot: SOURCE, helpers: [1, 3], isForAll: true });
});

it("is no more than what signs where that peer has lost the whole one too, and is told so", () => {
  expect(owed([whole, shared], [[2], [], [2]])).toEqual({ slot: SOURCE, helpers: [1, 3], isForAll: false });
  expect(owed([generation(1, "ACTIVE", true)], [[], [], []])).toBeUndefined();
});

it("is all where that peer has lost it and another lacks its share, or where nobody keeps the whole one any more", () => {
  expect(owed([whole, shared], [[2], [2], []])).toEqual({ slot: 3, helpers: [1, 2], isForAll: true });
  const destroyed = { ...whole, state: "DESTROYED" as const };
  expect(owed([destroyed, shared], [[2], [], [2]])).toEqual({ slot: SOURCE, helpers: [1, 3], isForAll: true });
});

it("is none that fewer have than sign, or that only a generation before has", () => {
  expect(owed([shared], [[2], [], []])).toBeUndefined();
  expect(owed([before, shared], [[2], [2], [1, 2]])).toBeUndefined();
});

it("is by those that have all that is lacking, before any that only have what signs", () => {
  expect(owed([before, shared], [[2], [], [1, 2], [1, 2]])).toEqual({ slot: 2, helpers: [3, 4], isForAll: true });
  expect(owed([before, shared], [[2], [1], [2]])).toEqual({ slot: 2, helpers: [1, 3], isForAll: true });
});

it("is no more than what signs where too few have all that is lacking", () => {
  expect(owed([before, shared], [[2], [], [1, 2]])).toEqual({ slot: 2, helpers: [1, 3], isForAll: false });
  const destroyed = { ...before, state: "DESTROYED" as const };
  expect(owed([destroyed, shared], [[2], [], [1, 2]])).toEqual({ slot: 2, helpers: [1, 3], isForAll: true });
});
