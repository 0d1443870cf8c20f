import { commands } from "../commands/Commands.ts";
import { describe, expect, it } from "vitest";
import { Cluster, crypto, founded } from "../../properties/cluster/Cluster.ts";
import { refusedBy } from "../../properties/cluster/Refused.ts";
import { declare, stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { boot } from "./Boot.ts";
import { allRows } from "./AllRows.ts";
import type { PeerState } from "./PeerState.ts";
import type { PeerId } from "./Topology.ts";
import type { RowView, TableName } from "./Tables.ts";
import { numberKey } from "./Tables.ts";

describe("the rows of a table", () => {
  // On both sides of one page and of two.
  it.each([0, 1, 255, 256, 257, 512, 600])("are all of them, in key order: %i", (count) => {
    const rows = Array.from({ length: count }, (_, at) => ({ key: numberKey(at), row: { id: `${at}` } }));
    const view = {
      get: () => undefined,
      scan: (_table: TableName, after: string, limit: number) => rows.filter(({ key }) => key > after).slice(0, limit),
    } as unknown as RowView;
    expect(allRows(view, "slots")).toEqual(rows.map(({ row }) => row));
  });
});

/** A peer's disk, without the rows of one of its tables. */
const without = (cluster: Cluster, peerId: PeerId, lost?: TableName): RowView => {
  const { view } = openStep(cluster, peerId).context;
  return {
    get: (table, key) => (table === lost ? undefined : view.get(table, key)),
    scan: (table, after, limit) => (table === lost ? [] : view.scan(table, after, limit)),
  };
};

/** A registration that peer 3 has refused, and whose abort nobody asks for. */
const refused = (): Cluster => refusedBy(3, (_from, _to, message) => message._tag === "AbortRequest");

/** One that all have aborted, without word of it from peer 3. */
const aborted = (): Cluster => {
  const cluster = refusedBy(3, (from, _to, message) => from === 3 && message._tag === "Votes");
  cluster.pass(3_000);
  return cluster;
};

/** One that all have applied, without word of it from peer 3. */
const applied = (): Cluster => {
  const cluster = founded();
  cluster.tamper = (from, _to, message) => (from === 3 && message._tag === "CommitAcks" ? undefined : message);
  cluster.register(1, "request", "alice", 7);
  cluster.settle();
  return cluster;
};

/** The memory of a peer that starts, without the rows of one of its tables. */
const remembered = (cluster: Cluster, peerId: PeerId, lost?: TableName) =>
  boot(without(cluster, peerId, lost), crypto, commands, 5_000);

describe("a peer that starts", () => {
  it("is sealed, and has nothing left of a founding that is over", () => {
    const state = remembered(founded(), 1);
    expect(state.fitness.unsealed).toBe(false);
    expect(state.cluster.founding).toEqual({
      cards: new Map(),
      vote: undefined,
      signatures: new Map(),
      faults: new Map(),
    });
  });

  it("has its vote of a founding that is not over, signed by itself alone", () => {
    const cluster = new Cluster(2);
    cluster.tamper = (_from, _to, message) => (message._tag === "GenesisCard" ? message : undefined);
    cluster.settle();
    const { vote } = stateOf(cluster, 1).cluster.founding;
    expect(vote).toBeDefined();
    expect(remembered(cluster, 1).cluster.founding).toMatchObject({
      vote,
      signatures: new Map([[1, vote?.signature]]),
    });
    expect(remembered(cluster, 1, "genesis").cluster.founding).toMatchObject({
      vote: undefined,
      signatures: new Map(),
    });
  });

  it.each([
    ["who it is", "peer", "peer/self"],
    ["whom it belongs to, although it has signed", "topology", "topology/self"],
  ] as const)("and does not remember %s is damaged", (_what, lost, fault) => {
    const state = remembered(applied(), 1, lost);
    expect(state).toMatchObject({
      fitness: { integrityFault: fault, unsealed: false },
      undecided: { outbox: new Map() },
    });
  });

  it("counts the refusal that it has pledged upon, and its pledge", () => {
    const [preparation] = remembered(refused(), 1).undecided.preparations.values();
    const { refusal, pledge } = preparation ?? {};
    expect(preparation).toMatchObject({ preparedAt: 5_000, askedAt: 5_000 });
    expect([...(preparation?.votes ?? [])]).toEqual([
      [3, refusal],
      [1, pledge],
    ]);
  });

  it("counts its pledge alone where whoever refused has another incarnation since", () => {
    const cluster = refused();
    declare(cluster, 3);
    cluster.settle();
    const [preparation] = remembered(cluster, 1).undecided.preparations.values();
    expect(preparation?.refusal).toBeDefined();
    expect([...(preparation?.votes.keys() ?? [])]).toEqual([1]);
  });

  it("has bound the slot of what it has refused only where the slot says so", () => {
    const cluster = refused();
    const bindsSlot = (lost?: TableName) =>
      [...remembered(cluster, 3, lost).undecided.refused.values()].map((each) => each.bindsSlot);
    expect([bindsSlot(), bindsSlot("slots")]).toEqual([[true], [false]]);
  });

  it("has acknowledged what it has aborted and what it has applied, and knows of nobody else", () => {
    const acksOf = ({ undecided: { aborting, outbox } }: PeerState) =>
      [...aborting.values(), ...outbox.values()].map(({ acks }) =>
        [...acks].map(([peerId, { header, statement }]) => [peerId, header.peerId, statement.kind]),
      );
    expect(acksOf(remembered(aborted(), 1))).toEqual([[[1, 1, "ABORT_ACK"]]]);
    expect(acksOf(remembered(applied(), 1))).toEqual([[[1, 1, "COMMIT_ACK"]]]);
  });

  it("holds the locks of what is decided at the writer alone", () => {
    for (const cluster of [aborted(), applied()])
      expect([1, 2].map((peerId) => remembered(cluster, peerId).undecided.locks.size > 0)).toEqual([true, false]);
  });

  it.each([
    ["an abort without the acknowledgement of its slot", aborted, "slots", "S5"],
    ["a delivery without its certificate", applied, "certificates", "S13"],
  ] as const)("does not go on from %s", (_what, make, lost, invariant) => {
    expect(() => remembered(make(), 1, lost)).toThrow(invariant);
  });
});
