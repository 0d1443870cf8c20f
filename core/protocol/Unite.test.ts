/** Unions of disks by their slots alone; whole clusters are in Union.test.ts and Branches.test.ts. */
import { describe, expect, it } from "vitest";
import type { Digest } from "../base/Digest.ts";
import { type Change, type Disk, type Shown, unite } from "./Union.ts";

const FIRST = [1, 1, 1];
const NEXT = [5, 1, 1];
const idOf = (name: string): Digest => name.padEnd(64, "0") as Digest;
const none: ReadonlySet<Digest> = new Set();

const disk = (peerId: number, incarnations: ReadonlyArray<number> = FIRST, change: Partial<Disk> = {}): Disk => ({
  peerId,
  incarnations,
  refused: none,
  strays: none,
  ...change,
});

const applied = (at: number, name: string, change: Partial<Change> = {}, key = "1"): Shown => ({
  disk: at,
  key,
  id: idOf(name),
  change: { incarnations: FIRST, ref: name, revision: 1, claim: `key of ${name}`, owner: name, ...change },
});
const aborted = (at: number, name: string, key = "1"): Shown => ({ disk: at, key, id: idOf(name), change: undefined });

const united = (disks: ReadonlyArray<Disk>, ...shown: ReadonlyArray<Shown>) => {
  const all = unite(disks, shown);
  if (typeof all === "string") return all;
  return { slots: Object.fromEntries(all.slots), done: [...all.changes] };
};
const DONE = { slots: { 1: idOf("alice") }, done: [idOf("alice")] };
const ENDED = { slots: { 1: idOf("alice") }, done: [] };
const NOTHING = { slots: {}, done: [] };

describe("a change on one disk", () => {
  it("is kept where the others are as new", () => {
    expect(united([disk(1), disk(2)], applied(1, "alice"))).toEqual(DONE);
  });

  it("was given up where newer disks lack it, unless one as new as the newest has it", () => {
    expect(united([disk(1, NEXT), disk(2)], applied(1, "alice"))).toEqual(NOTHING);
    expect(united([disk(1, NEXT), disk(2), disk(3, NEXT)], applied(1, "alice"), applied(2, "alice"))).toEqual(DONE);
  });

  it("is kept where it was agreed upon in incarnations as new as the newest disk's", () => {
    expect(united([disk(1, NEXT), disk(2)], applied(1, "alice", { incarnations: [5, 1, 7] }))).toEqual(DONE);
  });
});

describe("a change that has ended", () => {
  it("is aborted where a disk shows that, whatever others have applied", () => {
    expect(united([disk(1), disk(2)], applied(1, "alice"), aborted(0, "alice"))).toEqual(ENDED);
    const later = applied(1, "alice", { incarnations: NEXT });
    expect(united([disk(1), disk(2, NEXT)], later, aborted(0, "alice"))).toEqual(ENDED);
  });

  it("stands where a disk has it from a later recovery than that of the disk that ended it", () => {
    expect(united([disk(1), disk(2, NEXT)], applied(1, "alice"), aborted(0, "alice"))).toEqual(DONE);
    const strays = new Set([idOf("alice")]);
    expect(united([disk(1, FIRST, { strays }), disk(2, NEXT)], applied(1, "alice"))).toEqual(DONE);
  });

  it("is not brought back where it was aborted in no slot, or is refused now", () => {
    const those = new Set([idOf("alice")]);
    expect(united([disk(1, FIRST, { strays: those }), disk(2)], applied(1, "alice"))).toEqual(NOTHING);
    expect(united([disk(1, FIRST, { refused: those }), disk(2, NEXT)], applied(1, "alice"))).toEqual(NOTHING);
  });

  it("makes room for what was applied in its slot", () => {
    expect(united([disk(1), disk(2)], aborted(0, "bob"), applied(1, "alice"))).toEqual(DONE);
    expect(united([disk(1), disk(2)], aborted(0, "bob"))).toEqual({ slots: { 1: idOf("bob") }, done: [] });
  });
});

describe("nothing is guessed", () => {
  const again = "put another backup of a peer in its place";

  it("where incarnations do not follow on one another", () => {
    expect(united([disk(1), disk(2, [5, 1, 1]), disk(3, [1, 5, 1])])).toContain(
      "peers 2 and 3 were in different restores",
    );
  });

  it("where two changes of a slot are from the same incarnations", () => {
    expect(united([disk(1), disk(2)], applied(0, "alice"), applied(1, "bob"))).toContain(again);
  });

  it("where a key has two owners, or a revision is missing or there twice", () => {
    const disks = [disk(1), disk(2)];
    const first = applied(0, "alice");
    expect(united(disks, first, applied(1, "bob", { claim: "key of alice" }, "2"))).toContain(again);
    expect(united(disks, first, applied(1, "third", { ref: "alice", revision: 3 }, "2"))).toContain(again);
    expect(united(disks, first, applied(1, "again", { ref: "alice" }, "2"))).toContain(again);
    expect(
      united(
        disks,
        first,
        applied(1, "next", { ref: "alice", revision: 2, claim: "key of alice", owner: "alice" }, "2"),
      ),
    ).toMatchObject({
      done: [idOf("alice"), idOf("next")],
    });
  });
});
