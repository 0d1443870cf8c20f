import { describe, expect, it } from "vitest";
import { codeOf } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, each, held, keyed, renew } from "../../../properties/cluster/Keyed.ts";
import { generationKey } from "../keys/Tables.ts";

/** A key with an older generation that has its shares still. */
const rotated = () => {
  const cluster = keyed();
  create(cluster, 1, "create");
  cluster.pass(400);
  renew(cluster, 1, "rotate", "rotate", 1);
  cluster.pass(400);
  return cluster;
};

describe("the destruction of an older generation", () => {
  it("erases its share at every member, once, whoever asks again", () => {
    const cluster = rotated();
    expect(held(cluster)).toEqual(each(1, 2));
    destroy(cluster, 3, "destroy", { baseGeneration: 2, generation: 1 });
    cluster.pass(400);
    expect(cluster.answers.get("destroy")).toMatchObject({
      _tag: "KeyDestroyed",
      key: { status: "ACTIVE", generation: 2, revision: 3 },
      generation: { generation: 1, state: "DESTROYED" },
    });
    expect(held(cluster)).toEqual(each(1, 1));
    destroy(cluster, 2, "again", { baseGeneration: 2, generation: 1 });
    cluster.pass(400);
    expect(cluster.answers.get("again")).toEqual(cluster.answers.get("destroy"));
    expect(cluster.row(2, "shares", generationKey("k1", 2))).toBeDefined();
  });

  it.each([
    ["the active one", { baseGeneration: 2, generation: 2 }, "GENERATION_IN_USE"],
    ["none", { baseGeneration: 2, generation: 9 }, "GENERATION_NOT_FOUND"],
    ["one of a key that has moved on", { baseGeneration: 1, generation: 1 }, "GENERATION_MOVED"],
    ["an older one as if it were the key", { baseGeneration: 2, generation: 1, final: true }, "INVALID_REQUEST_BODY"],
  ])("is refused of %s", (_of, body, code) => {
    const cluster = rotated();
    destroy(cluster, 2, "destroy", body);
    cluster.pass(400);
    expect(codeOf(cluster, "destroy")).toBe(code);
    expect(held(cluster)).toEqual(each(1, 2));
  });
});

describe("the destruction of a key", () => {
  it("erases all its shares, ends all its generations and uses up its id", () => {
    const cluster = rotated();
    destroy(cluster, 2, "destroy", { baseGeneration: 2, generation: 2, final: true });
    cluster.pass(400);
    expect(cluster.answers.get("destroy")).toMatchObject({
      _tag: "KeyDestroyed",
      key: { status: "DESTROYED" },
      generation: { generation: 2, state: "DESTROYED" },
    });
    expect(held(cluster)).toEqual(each(1, 0));
    create(cluster, 1, "create again");
    renew(cluster, 2, "rotate again", "rotate", 2);
    destroy(cluster, 3, "destroy again", { baseGeneration: 2, generation: 2, final: true });
    cluster.pass(1_000);
    expect([codeOf(cluster, "create again"), codeOf(cluster, "rotate again")]).toEqual([
      "KEY_DESTROYED",
      "KEY_DESTROYED",
    ]);
    expect(cluster.answers.get("destroy again")).toEqual(cluster.answers.get("destroy"));
  });

  it("of which nobody has heard is not found", () => {
    const cluster = keyed();
    destroy(cluster, 2, "destroy", { baseGeneration: 1, generation: 1, final: true });
    cluster.pass(400);
    expect(codeOf(cluster, "destroy")).toBe("KEY_NOT_FOUND");
  });
});
