import { expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { Walk } from "../oracle/Listing.ts";
import type { PageAsked, PageOutcome } from "../oracle/ListRequests.ts";
import { Violation } from "../base/Violation.ts";
import { Ghost } from "./Ghost.ts";
import { S40 } from "./S40.ts";

const cluster = founded();
cluster.register(1, "r1", "alice", 1);
cluster.settle();
const { view } = openStep(cluster, 1);
const peer = watched(cluster, 1, { store: view });
const rows = view
  .scan("approvers", "", 9)
  .map(({ key, row }) => ({ op: "insert" as const, table: "approvers" as const, key, row }));
const [{ key: ref } = { key: "" }] = rows;

const ALL = { id: undefined, type: undefined, metadata: [] };
const asked = (more: Partial<PageAsked> = {}): PageAsked => ({
  walk: new Walk(ALL),
  filter: ALL,
  limit: 1,
  cursor: undefined,
  query: "",
  ...more,
});
const page = (refs: ReadonlyArray<string>, next?: string): PageOutcome => ({ _tag: "Page", refs, next });

const booted = () => {
  const ghost = new Ghost(crypto, cluster.total);
  ghost.flushed(peer, rows);
  const checker = S40(ghost);
  checker.booted?.(peer);
  const answers =
    (outcome: PageOutcome, about = asked(), transactions = 0, by = peer) =>
    (): void => {
      checker.listing?.(by, about);
      checker.listed?.(by, about, outcome, transactions);
    };
  return { checker, answers };
};

it("takes the page that shows what the peer has, and no other, and lets it write nothing", () => {
  const { answers } = booted();
  expect(rows).toHaveLength(1);
  expect(answers(page([ref]))).not.toThrow();
  expect(answers("gone")).not.toThrow();
  expect(answers(page([]))).toThrow(Violation);
  expect(answers(page([ref], "more"))).toThrow("nothing more fitted");
  expect(answers(page([ref]), asked(), 1)).toThrow("wrote 1");
  expect(answers(page([ref]), asked({ filter: { ...ALL, id: "bob" } }))).toThrow("did not fit");
});

it("lets a peer refuse for the reason that there is, and for no other", () => {
  const { checker, answers } = booted();
  expect(answers({ _tag: "Refused", code: "SEALED" })).toThrow("refused: SEALED");
  const sealed = watched(cluster, 1, {}, { unsealed: false });
  expect(answers({ _tag: "Refused", code: "SEALED" }, asked(), 0, sealed)).not.toThrow();
  expect(answers(page([ref]), asked(), 0, sealed)).toThrow("not refused as SEALED");
  const quarantined = watched(cluster, 1, { store: view }, { quarantine: "it ran from an old disk" });
  expect(answers({ _tag: "Refused", code: "OUTDATED" }, asked(), 0, quarantined)).not.toThrow();
  expect(answers(page([ref]), asked(), 0, quarantined)).toThrow("not refused as OUTDATED");
  checker.written?.indexed?.(peer, { op: "replace", table: "indexed", key: SELF, row: { upTo: "a" } }, []);
  expect(answers({ _tag: "Refused", code: "INDEXING" })).not.toThrow();
  expect(answers(page([ref]))).toThrow("not refused as INDEXING");
});

it("knows the cursors that came with pages, and the filters they are for", () => {
  const { checker, answers } = booted();
  const [row] = rows;
  if (row === undefined) expect.fail("nothing is registered");
  expect(answers({ _tag: "CursorRefused" }, asked({ cursor: "x" }))).not.toThrow();
  expect(answers(page([]), asked({ cursor: "x" }))).toThrow("came with no page of this filter");
  // One more comes while the page is being read.
  const about = asked();
  checker.listing?.(peer, about);
  checker.written?.approvers?.(peer, { ...row, key: `${ref}z` }, []);
  checker.listed?.(peer, about, page([ref], "x"), 0);
  expect(answers(page([]), asked({ walk: about.walk, cursor: "x" }))).not.toThrow();
  expect(answers({ _tag: "CursorRefused" }, asked({ cursor: "x" }))).toThrow("cursor was refused");
  const other = { ...ALL, id: "alice" };
  expect(answers({ _tag: "CursorRefused" }, asked({ cursor: "x", filter: other }))).not.toThrow();
});
