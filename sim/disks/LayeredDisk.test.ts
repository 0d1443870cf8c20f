import { beforeEach, describe, expect, it } from "vitest";
import { LayeredDisk } from "./LayeredDisk.ts";

describe("the layers of a disk", () => {
  let durable: number;
  let disk: LayeredDisk<string>;
  let reported: Array<string>;

  const put = (key: string, value: string, op: "insert" | "replace" = "insert"): void =>
    disk.commit([{ op, table: "keys", key, row: value }], (failure) => reported.push(failure?.message ?? "done"));
  const get = (key: string): string | undefined => disk.get("keys", key);

  beforeEach(() => {
    durable = 0;
    reported = [];
    disk = new LayeredDisk(
      () => {},
      () => {
        durable += 1;
      },
    );
  });

  it("shows a commit when its flush ends, and reports it once", () => {
    put("a", "1");
    expect(get("a")).toBeUndefined();
    disk.endFlush("durable");
    disk.endFlush("durable");
    expect([get("a"), reported, durable]).toEqual(["1", ["done"], 1]);
  });

  it("forgets a commit whose process crashed, unless its bytes were already visible", () => {
    put("a", "1");
    disk.crash(false);
    expect([get("a"), disk.isVolatile]).toEqual([undefined, false]);
    put("a", "2");
    disk.crash(true);
    expect([get("a"), disk.isVolatile, durable, reported]).toEqual(["2", true, 0, []]);
  });

  it("loses what is visible and volatile with the power, and keeps it once an open made it durable", () => {
    put("a", "1");
    disk.endFlush("durable");
    put("a", "2", "replace");
    disk.crash(true);
    disk.losePower();
    expect([get("a"), disk.isVolatile]).toEqual(["1", false]);
    put("a", "3", "replace");
    disk.crash(true);
    disk.makeDurable();
    disk.losePower();
    expect([get("a"), durable]).toEqual(["3", 2]);
  });

  it("keeps a prefix of a torn transaction until it is mended, and tears none of a single change", () => {
    put("a", "1");
    disk.endFlush("durable");
    const change = (key: string) => ({ op: "insert" as const, table: "keys" as const, key, row: "2" });
    disk.commit([change("b"), change("c"), change("d")], () => reported.push("torn"));
    expect(disk.tear(700)).toBe(true);
    disk.losePower();
    disk.makeDurable();
    expect([["a", "b", "c", "d"].map(get), disk.isTorn, reported]).toEqual([
      ["1", "2", "2", undefined],
      true,
      ["done"],
    ]);
    disk.mend();
    expect([["a", "b", "c"].map(get), disk.isTorn, durable]).toEqual([["1", undefined, undefined], false, 1]);
    disk.commit([change("b")], () => undefined);
    expect([disk.tear(999), disk.isTorn, get("b")]).toEqual([false, false, undefined]);
  });

  it("keeps what was flushed, whether or not anybody was told", () => {
    put("a", "1");
    disk.endFlush("durable, unreported");
    disk.losePower();
    expect([get("a"), reported, durable]).toEqual(["1", [], 1]);
  });

  it("leaves the outcome of a failed flush open and stops until the next open", () => {
    put("a", "1");
    disk.endFlush("failed, durable");
    expect(() => get("a")).toThrow("the flush failed");
    disk.losePower();
    expect(get("a")).toBe("1");
    put("b", "1");
    disk.endFlush("failed, lost");
    disk.losePower();
    expect([get("b"), reported]).toEqual([undefined, ["the flush failed", "the flush failed"]]);
  });

  it("loses a lying flush with the power, several of them in order", () => {
    put("a", "1");
    disk.endFlush("reported, volatile");
    put("a", "2", "replace");
    disk.endFlush("reported, volatile");
    expect([get("a"), reported, durable]).toEqual(["2", ["done", "done"], 0]);
    disk.losePower();
    expect(get("a")).toBeUndefined();
  });

  it("has the first keys from one on, sorted, as many as are asked for", () => {
    for (const key of ["b", "d", "a", "c", "e"]) {
      put(key, "1");
      disk.endFlush("durable");
    }
    expect(disk.keys("keys", "b", 3)).toEqual(["b", "c", "d"]);
    expect(disk.keys("keys", "", 9)).toEqual(["a", "b", "c", "d", "e"]);
    expect(disk.keys("keys", "f", 9)).toEqual([]);
    expect(disk.keys("approvers", "", 9)).toEqual([]);
  });
});
