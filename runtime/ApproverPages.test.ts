import { CAPACITIES } from "../core/base/Capacities.ts";
import fc from "fast-check";
import { Either } from "effect";
import { expect, it } from "vitest";
import { changed } from "../properties/cluster/Changed.ts";
import { founded } from "../properties/cluster/Cluster.ts";
import { stateOf } from "../properties/cluster/Restoring.ts";
import { indexing } from "../core/commands/approvers/ApproverIndex.ts";
import { type ApproverFilter, termKeysOf } from "../core/commands/approvers/Terms.ts";
import { descriptorJson, refDigest } from "../core/credential/SignatureCredential.ts";
import type { Digest } from "../core/base/Digest.ts";
import type { PeerState } from "../core/protocol/PeerState.ts";
import type { Rows, RowView } from "../core/Tables.ts";
import { approverPage, type PagePorts } from "./ApproverPages.ts";
import { cryptoOf } from "./CryptoPrimitives.ts";
import { cursorOf, startOf } from "./ListCursor.ts";
import { noblePrimitives } from "./NobleCrypto.ts";
import { IntegrityFailure, type KeyView } from "./PeerStore.ts";

const crypto = cryptoOf(noblePrimitives);
const active = stateOf(founded(3), 2);

const versionOf = (id: string, key: number, team: number, site: number): Rows["approvers"] => {
  const descriptor = descriptorJson({ type: "SIGNATURE", algorithm: "ED25519", publicKey64: `${key}` });
  const metadata = [["site", `s${site}`] as const, ["team", `t${team}`] as const];
  const ref = `${id}@sha256:${refDigest(crypto.sha256OfText, descriptor)}`;
  return {
    id,
    ref,
    descriptor,
    keyIdentity: "1".repeat(64) as Digest,
    metadata,
    revision: 1,
    createdAt: 1,
    updatedAt: 1,
  };
};

const portsOf = (versions: ReadonlyArray<Rows["approvers"]>, state: () => PeerState = () => active) => {
  const lost: Array<string> = [];
  const rows = new Map(versions.map((each) => [each.ref, each]));
  const terms = versions.flatMap((each) => [...termKeysOf(each, crypto)]).toSorted();
  const refs = [...rows.keys()].toSorted();
  const view: RowView & KeyView = {
    get: (table, key) => (table === "approvers" ? rows.get(key) : undefined) as never,
    scan: () => expect.fail("no row is scanned"),
    keys: (table, from, limit) => (table === "terms" ? terms : refs).filter((key) => key >= from).slice(0, limit),
  };
  const settings = { capacities: CAPACITIES };
  const ports: PagePorts = { view, state, crypto, settings, integrityLost: (where) => void lost.push(where) };
  return { ports, rows, lost };
};

/** A page and its cursor; the slices in between are put together. */
const pageOf = (ports: PagePorts, filter: ApproverFilter, from: string, limit: number) => {
  const slices = approverPage(ports, { filter, from, limit });
  const refs: Array<string> = [];
  for (;;) {
    const slice = slices.next();
    if (slice.done === true) return { refs, end: slice.value };
    refs.push(...slice.value.map(({ approver }) => approver.ref));
  }
};

const NONE: ApproverFilter = { id: undefined, type: undefined, metadata: [] };
const few = fc.integer({ min: 0, max: 2 });
const anyVersion = fc
  .tuple(fc.constantFrom("a", "a-", "a.b", "ab", "b"), fc.integer({ min: 0, max: 40 }), few, few)
  .map((parts) => versionOf(...parts));
const anyFilter = fc.record({
  id: fc.option(fc.constantFrom("a", "ab", "c"), { nil: undefined }),
  type: fc.option(fc.constantFrom("SIGNATURE" as const, "WEBAUTHN" as const), { nil: undefined, freq: 4 }),
  metadata: fc.subarray([["team", "t1"] as const, ["site", "s1"] as const]),
});

it("has every version that fits once, by ref, in pages of any size", () => {
  fc.assert(
    fc.property(
      fc.array(anyVersion, { maxLength: 120, size: "max" }),
      anyFilter,
      fc.integer({ min: 1, max: 9 }),
      (all, filter, limit) => {
        const { ports, rows } = portsOf(all);
        const fits = ({ id, metadata }: Rows["approvers"]): boolean =>
          (filter.id ?? id) === id &&
          filter.type !== "WEBAUTHN" &&
          filter.metadata.every((wanted) => metadata.some((pair) => pair.join() === wanted.join()));
        const seen: Array<string> = [];
        for (let from: string | undefined = ""; from !== undefined; ) {
          const { refs, end } = pageOf(ports, filter, from, limit);
          seen.push(...refs);
          const next: string | undefined = Either.getOrThrow(end);
          expect(refs.length === limit || next === undefined).toBe(true);
          from = next === undefined ? undefined : startOf(crypto, filter, cursorOf(crypto, filter, next));
          expect(from).toBe(next);
        }
        expect(seen).toEqual(
          [...rows.values()]
            .filter(fits)
            .map(({ ref }) => ref)
            .toSorted(),
        );
      },
    ),
    { numRuns: 200 },
  );
});

it("stops after so much work, and goes on from there", () => {
  // Every row has lost what the index still says of it, but for the last.
  const all = Array.from({ length: 20 }, (_, at) => versionOf(`v${100 + at}`, 1, 1, 1));
  const { ports, rows } = portsOf(all);
  const last = all.at(-1)?.ref ?? "";
  for (const each of all) if (each.ref !== last) rows.set(each.ref, { ...each, metadata: [] });
  const filter: ApproverFilter = { ...NONE, metadata: [["team", "t1"]] };
  const first = pageOf(ports, filter, "", 50);
  expect(first.refs).toEqual([]);
  const next = Either.getOrThrow(first.end) ?? expect.fail("it is the last page");
  expect(startOf(crypto, filter, cursorOf(crypto, filter, next))).toBe(next);
  expect(pageOf(ports, filter, next, 50)).toEqual({ refs: [last], end: Either.right(undefined) });
});

/** A page, and how many keys each search of the index asked for. */
const searchesOf = (ports: PagePorts, filter: ApproverFilter, limit: number) => {
  const searches: Array<number> = [];
  const keys: KeyView["keys"] = (table, from, most) => {
    searches.push(most);
    return ports.view.keys(table, from, most);
  };
  return { ...pageOf({ ...ports, view: { ...ports.view, keys } }, filter, "", limit), searches };
};
const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, each) => total + each, 0);
const both: ApproverFilter = { ...NONE, metadata: [["team", "t1"] as const, ["site", "s1"] as const] };

it("searches no longer for what nobody has than for a usual page, and counts no row that is on the page", () => {
  const half = (at: number): number => at % 2;
  const all = Array.from({ length: 9_000 }, (_, at) => versionOf(`v${10_000 + at}`, 1, half(at), half(at + 1)));
  const { ports } = portsOf(all);
  const { refs, end, searches } = searchesOf(ports, both, 50);
  expect(refs).toEqual([]);
  // Dense terms are read in ever longer runs, which no two terms make longer together than one page may hold.
  expect(searches.slice(0, 8)).toEqual([16, 16, 32, 32, 64, 64, 128, 128]);
  expect(Math.max(...searches)).toBe(128);
  const work = searches.length + sum(searches) / 64;
  expect(work).toBeGreaterThanOrEqual(96);
  expect(work).toBeLessThan(100);
  expect((Either.getOrThrow(end) ?? "") > (all.at(3_500)?.ref ?? "")).toBe(true);
  expect(pageOf(ports, { ...NONE, metadata: [["team", "t1"]] }, "", 200).refs).toHaveLength(200);
  const many = Array.from({ length: 31 }, (_, at) => ["site", `s${at}`] as const);
  expect(Math.max(...searchesOf(ports, { ...both, metadata: [...both.metadata, ...many] }, 50).searches)).toBe(16);
});

it("passes over what lies between two that are far apart without reading it", () => {
  const rare = (at: number): number => (at % 500 === 0 ? 1 : 0);
  const { ports } = portsOf(Array.from({ length: 5_000 }, (_, at) => versionOf(`v${10_000 + at}`, 1, rare(at), 1)));
  const { refs, end, searches } = searchesOf(ports, both, 50);
  expect(refs).toHaveLength(10);
  expect(end).toEqual(Either.right(undefined));
  expect(searches.length).toBeLessThanOrEqual(13);
  expect(new Set(searches)).toEqual(new Set([16]));
});

it("judges the peer and every row anew", () => {
  const all = Array.from({ length: 40 }, (_, at) => versionOf(`v${at}`, at, 1, 1));
  const [first] = all;
  const behind = { ...active, modules: { [indexing.name]: { behind: new Map([["self", ""]]), marked: new Set() } } };
  const codeIn = (state: PeerState) => Either.flip(pageOf(portsOf(all, () => state).ports, NONE, "", 9).end);
  expect(codeIn(behind)).toMatchObject({ right: { code: "INDEXING" } });
  expect(codeIn(changed(active, { integrityFault: "slots/1" }))).toMatchObject({
    right: { code: "INTEGRITY_FAILURE" },
  });
  let looks = 0;
  const sealing = portsOf(all, () => changed(active, { unsealed: looks++ === 0 }));
  expect(pageOf(sealing.ports, NONE, "", 40)).toMatchObject({ end: { left: { code: "SEALED" } } });
  const { ports, rows, lost } = portsOf(all);
  rows.set(first?.ref ?? "", { ...versionOf("v0", 99, 1, 1), ref: first?.ref ?? "" });
  expect(pageOf(ports, NONE, "", 40).end).toMatchObject({ left: { code: "INTEGRITY_FAILURE" } });
  expect(lost).toEqual([`approvers/${first?.ref}`]);
  const broken = portsOf(all);
  const get = (): never => {
    throw new IntegrityFailure("approvers/x", "the seal does not hold");
  };
  expect(pageOf({ ...broken.ports, view: { ...broken.ports.view, get } }, NONE, "", 9).end).toMatchObject({
    left: { code: "INTEGRITY_FAILURE" },
  });
  expect(broken.lost).toEqual(["approvers/x"]);
  expect(pageOf({ ...broken.ports, view: { ...broken.ports.view, keys: get } }, NONE, "", 9).end).toMatchObject({
    left: { code: "INTEGRITY_FAILURE" },
  });
  expect(broken.lost).toHaveLength(2);
});

it("shows nothing that the index names and the row does not have", () => {
  const [one, two] = [versionOf("one", 1, 1, 1), versionOf("two", 2, 1, 1)];
  const { ports, rows } = portsOf([one, two]);
  rows.set(one.ref, { ...one, metadata: [] });
  expect(pageOf(ports, { ...NONE, metadata: [["team", "t1"]] }, "", 9).refs).toEqual([two.ref]);
});
