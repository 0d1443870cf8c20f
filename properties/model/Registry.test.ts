/** A cluster of three against a picture of the registry that fits on one page, through crashes, cuts and races. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Schema } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Cluster } from "../cluster/Cluster.ts";
import { type Lie, registryCommands, watchCuts } from "./RegistryCommands.ts";
import { RegistryModel } from "./RegistryModel.ts";

const RUNS = 16;
const MOST_COMMANDS = 8;
/** A story of a lie is short. */
const LYING_COMMANDS = 4;
/** All work under way is decided and forgotten well within this, in virtual milliseconds. */
const REST = 60_000;

const Corpus = Schema.parseJson(
  Schema.Array(
    Schema.Struct({ seed: Schema.Number, path: Schema.String, replayPath: Schema.String, why: Schema.String }),
  ),
);

/** Runs that failed once, with the reason; every run replays them first. */
const corpus = Schema.decodeUnknownSync(Corpus)(
  readFileSync(fileURLToPath(new URL("./corpus.json", import.meta.url)), "utf8"),
);

const founded = (() => {
  const cluster = new Cluster(3);
  cluster.pass(2_000);
  return cluster.tables;
})();

/** A founded cluster that has registered nothing yet. */
const freshCluster = (): Cluster => {
  const cluster = new Cluster(0, undefined, 3);
  for (const [peerId, tables] of founded) {
    cluster.tables.set(peerId, new Map([...tables].map(([table, rows]) => [table, new Map(rows)])));
    cluster.start(peerId);
  }
  cluster.pass(2_000);
  return cluster;
};

/** All come back and everything is mended: nothing stays open, all have the same, and the next one succeeds. */
const assertRest = (model: RegistryModel, cluster: Cluster): void => {
  model.cuts.clear();
  for (const peerId of model.down) cluster.start(peerId);
  cluster.pass(REST);
  const states = [...cluster.peers.values()].map(({ state }) => state);
  for (const {
    undecided: { preparations, refused, aborting, outbox, locks },
  } of states)
    expect([preparations.size, refused.size, aborting.size, outbox.size, locks.size]).toEqual([0, 0, 0, 0, 0]);
  expect(new Set(states.map(({ registry }) => Buffer.from(registry.set).toString("hex"))).size).toBe(1);
  model.assertKept(cluster);
  cluster.register(2, "last", "zoe", 99);
  cluster.pass(5_000);
  expect(cluster.answers.get("last")).toMatchObject({ _tag: "Registered", created: true });
};

const property = (replayPath?: string, lie?: Lie) =>
  fc.property(registryCommands(lie === undefined ? MOST_COMMANDS : LYING_COMMANDS, replayPath, lie), (commands) => {
    const model = new RegistryModel();
    const cluster = freshCluster();
    watchCuts(model, cluster);
    fc.modelRun(() => ({ model, real: cluster }), commands);
    if (lie === undefined) assertRest(model, cluster);
  });

describe("a cluster, to its callers,", () => {
  it.each(corpus)("does not do again: $why", ({ seed, path, replayPath }) => {
    fc.assert(property(replayPath), { seed, path, endOnFailure: true });
  });

  it("is one registry, whatever crashes and whoever is cut off", () => {
    fc.assert(property(), { seed: 1, numRuns: RUNS });
  });

  it("would be noticed if it gave a key to two, in a story of two requests", () => {
    const lie: Lie = (answer, { id }) =>
      answer._tag === "Rejected" && answer.rejection.code === "KEY_ALREADY_REGISTERED"
        ? {
            _tag: "Registered",
            created: true,
            observations: undefined,
            approver: {
              id,
              ref: `${id}@sha256:${"0".repeat(64)}`,
              descriptor: "",
              // Any digest will do: the model looks at ids.
              keyIdentity: "0".repeat(64) as never,
              metadata: [],
              revision: 1,
              createdAt: 0,
              updatedAt: 0,
            },
          }
        : answer;
    const found = fc.check(property(undefined, lie), { seed: 1, numRuns: 50 });
    expect(found.failed).toBe(true);
    expect(String(found.errorInstance)).toContain("the key was promised to");
    expect([...(found.counterexample?.[0] ?? [])].length).toBe(2);
  });
});
