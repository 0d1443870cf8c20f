import { describe, expect, it } from "vitest";
import { durableOf, keptOf, type Transaction } from "./Journal.ts";
import { framed, journalFile, journalProcess, unframed } from "./PortFiles.ts";

const begun = (number: number, process: number): Transaction => ({ number, process, stamp: 0, writes: [], rows: [] });

describe("a journal", () => {
  it("keeps of two transactions with one number the later: a crash had undone the other", () => {
    const kept = durableOf([begun(1, 1), begun(2, 1), begun(2, 2), begun(3, 2)], 3);
    expect(kept.map(({ number, process }) => [number, process])).toEqual([
      [1, 1],
      [2, 2],
      [3, 2],
    ]);
  });

  it("leaves out what the database has not come to", () => {
    expect(durableOf([begun(1, 1), begun(2, 1)], 1).map(({ number }) => number)).toEqual([1]);
  });

  it("loses of a file that was cut short only its last frame", () => {
    const [first, second] = [Uint8Array.of(1, 2, 3), Uint8Array.of()];
    const file = Buffer.concat([framed(first), framed(second), framed(Uint8Array.of(9, 9))]);
    expect(unframed(file)).toEqual([first, second, Uint8Array.of(9, 9)].map((each) => Buffer.from(each)));
    for (const cut of [1, 2, 5]) expect(unframed(file.subarray(0, file.length - cut)).length).toBe(2);
    expect(unframed(new Uint8Array(0))).toEqual([]);
  });

  it("tells its files from others, in the order of writing", () => {
    const names = [journalFile(2, 0), journalFile(1, 10), journalFile(1, 9)].toSorted();
    expect(names.map(journalProcess)).toEqual([1, 1, 2]);
    expect(journalProcess("flush.done")).toBeUndefined();
    expect(journalFile(1, 9) < journalFile(1, 10)).toBe(true);
  });

  it("are those behind the last one of an older disk, where that was put back", () => {
    const made = [1, 2, 3, 4].map((number) => ({ number, disk: "first" }));
    const again = [3, 4].map((number) => ({ number, disk: "put back" }));
    expect(keptOf([...made, ...again])).toEqual([...made.slice(0, 2), ...again]);
    expect(keptOf([...made, { number: 1, disk: "put back" }])).toEqual([{ number: 1, disk: "put back" }]);
    expect(keptOf(made)).toEqual(made);
  });
});
