import { Encoding } from "effect";
import { describe, expect, it } from "vitest";
import type { Violation } from "../../sim/base/Violation.ts";
import type { Moment } from "./History.ts";
import { listVersions } from "./Lists.ts";

const record = (id: string, digit: string) => ({
  id,
  ref: `${id}@sha256:${digit.repeat(64)}`,
  credential: { type: "SIGNATURE", algorithm: "ED25519", publicKey64: Encoding.encodeBase64(new Uint8Array(32)) },
  metadata: { team: "a" },
  metadataRevision: 1,
  createdAt: 1,
  updatedAt: 1,
});
const [first, second, third] = [record("alice", "1"), record("alice", "2"), record("alice", "3")];

/** Lists `alice` at a peer that answers with these pages, one after the other. */
const listed = async (pages: ReadonlyArray<string>, promised: ReadonlyArray<string>) => {
  const notes: Array<Moment> = [];
  const broken: Array<Violation> = [];
  const paths: Array<string> = [];
  const page = async (_slot: number, path: string) => {
    const text = pages[paths.length];
    paths.push(path);
    return text === undefined ? { status: 503, text: "" } : { status: 200, text };
  };
  const ports = {
    page,
    note: (moment: Moment) => void notes.push(moment),
    broken: (v: Violation) => void broken.push(v),
  };
  const isWhole = await listVersions(ports, 2, "alice", promised);
  const reads = notes.map((note) => (note._tag === "Read" ? [note.ref, note.found?.ref, note.body] : []));
  return { isWhole, reads, broken: broken.map(({ id }) => id), paths };
};
const page = (items: ReadonlyArray<object>, nextCursor: string | null) => JSON.stringify({ items, nextCursor });

describe("a list of versions in chaos", () => {
  it("is a read of every item, over all pages, and of each promised version that is left out", async () => {
    const found = await listed(
      [page([first, second], "more"), page([third], null)],
      [second.ref, `alice@sha256:${"4".repeat(64)}`],
    );
    expect(found).toMatchObject({ isWhole: true, broken: [] });
    expect(found.paths[1]).toContain("&cursor=more");
    expect(found.reads.map(([ref, shown]) => [ref?.slice(-1), shown?.slice(-1)])).toEqual([
      ["1", "1"],
      ["2", "2"],
      ["3", "3"],
      ["4", undefined],
    ]);
    expect(found.reads[0]?.[2]).toBe(JSON.stringify(first));
  });

  it("says nothing of what is left out where a page did not come", async () => {
    const found = await listed([page([first], "more")], [second.ref]);
    expect([found.isWhole, found.reads.length, found.broken]).toEqual([false, 1, []]);
  });

  it.each<[string, string]>([
    ["an item out of order", page([second, first], null)],
    ["an item twice", page([first, first], null)],
    ["a version of another id", page([record("bob", "1")], null)],
    ["what is no record", page([{}], null)],
    ["no page", "{}"],
    ["no JSON", "<html>"],
  ])("is no answer of the service with %s", async (_, text) => {
    expect(await listed([text], [])).toMatchObject({ isWhole: false, broken: ["S25"] });
  });
});
