import { describe, expect, it } from "vitest";
import { codeOf, rowsOf } from "../../../properties/cluster/Cluster.ts";
import { posted } from "../../../properties/cluster/Enrolling.ts";
import { create, each, held, keyed, renew } from "../../../properties/cluster/Keyed.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import { keyPath } from "../keys/KeyId.ts";
import { generationKey } from "../keys/Tables.ts";
import { makeKey } from "./MakeKey.ts";

const peers = [1, 2, 3];

describe("the creation of a key", () => {
  it.each(peers)("through peer %i is answered when every member has it", (through) => {
    const cluster = keyed();
    create(cluster, through, "request");
    cluster.pass(400);
    expect(cluster.answers.get("request")).toMatchObject({
      _tag: "KeyMade",
      created: true,
      key: { keyId: "k1", algorithm: "ED25519", scheme: "EdDSA", generation: 1, revision: 1 },
      generation: { generation: 1, state: "ACTIVE", madeBy: "CREATE", group: { threshold: 2 } },
    });
    expect(held(cluster)).toEqual(each(1, 1));
    const rows = peers.map((peerId) => cluster.row(peerId, "generations", generationKey("k1", 1)));
    expect(rows[1]).toEqual(rows[0]);
    expect(rows[2]).toEqual(rows[0]);
  });

  it("is found by the same request through every peer, and refused to another of its id", () => {
    const cluster = keyed();
    create(cluster, 2, "first");
    cluster.pass(400);
    for (const through of peers) create(cluster, through, `again ${through}`);
    create(cluster, 3, "other", { assetOwner: "somebody" });
    cluster.pass(2_000);
    for (const through of peers)
      expect(cluster.answers.get(`again ${through}`)).toMatchObject({ _tag: "KeyMade", created: false });
    expect(codeOf(cluster, "other")).toBe("KEY_ALREADY_EXISTS");
    expect(rowsOf(cluster, "shares")).toEqual([1, 1, 1]);
  });

  it("is found by the same request also after a rotation that said whose it is", () => {
    const cluster = keyed();
    create(cluster, 2, "first");
    cluster.pass(400);
    cluster.ask(1, "given", posted(keyPath("k1", "rotate"), { baseGeneration: 1, assetOwner: "somebody" }));
    cluster.pass(2_000);
    create(cluster, 3, "again");
    create(cluster, 3, "other", { assetOwner: "somebody-else" });
    cluster.pass(2_000);
    expect(cluster.answers.get("again")).toMatchObject({ _tag: "KeyMade", created: false, key: { generation: 2 } });
    expect(codeOf(cluster, "other")).toBe("KEY_ALREADY_EXISTS");
  });

  it("is refused to its own request once a rotation has said that the key is another's", () => {
    const cluster = keyed();
    create(cluster, 2, "first", { assetOwner: "somebody" });
    cluster.pass(400);
    create(cluster, 3, "before", { assetOwner: "somebody" });
    cluster.ask(1, "given", posted(keyPath("k1", "rotate"), { baseGeneration: 1, assetOwner: "somebody-else" }));
    cluster.pass(2_000);
    for (const through of peers) create(cluster, through, `after ${through}`, { assetOwner: "somebody" });
    cluster.pass(2_000);
    expect(codeOf(cluster, "before")).toBe("KeyMade");
    expect(peers.map((through) => codeOf(cluster, `after ${through}`))).toEqual(peers.map(() => "KEY_ALREADY_EXISTS"));
    expect(rowsOf(cluster, "shares")).toEqual([2, 2, 2]);
  });

  it("is told as made by its request until the key is renewed", () => {
    const cluster = keyed();
    const told = (name: string) => makeKey.existing(openStep(cluster, 2).view, name, true)?.answer;
    create(cluster, 2, "create");
    cluster.pass(400);
    expect(told("k1")).toMatchObject({ created: true, key: { generation: 1 } });
    renew(cluster, 2, "rotate", "rotate", 1);
    cluster.pass(1_000);
    expect(told("k1")).toMatchObject({ created: false, key: { generation: 2 } });
    expect(told("k1/2")).toMatchObject({ created: true, generation: { generation: 2 } });
    renew(cluster, 2, "refresh", "refresh", 2);
    cluster.pass(1_000);
    expect(told("k1/2")).toMatchObject({ created: false, generation: { generation: 2 } });
  });

  it("of one id by two callers at once makes one key", () => {
    const cluster = keyed();
    create(cluster, 2, "one");
    create(cluster, 3, "two", { assetOwner: "somebody" });
    cluster.pass(2_000);
    expect([codeOf(cluster, "one"), codeOf(cluster, "two")].toSorted()).toEqual(["KEY_ALREADY_EXISTS", "KeyMade"]);
    expect(held(cluster)).toEqual(each(1, 1));
  });

  it("at a peer that is alone asks nobody", () => {
    const cluster = keyed(1);
    create(cluster, 1, "request");
    cluster.pass(100);
    expect(cluster.answers.get("request")).toMatchObject({ _tag: "KeyMade", generation: { group: { threshold: 1 } } });
    expect(rowsOf(cluster, "shares")).toEqual([1]);
  });
});

describe("the next generation of a key", () => {
  it("is not taken for one that was asked for, where another request has said since whose the key is", () => {
    const cluster = keyed();
    create(cluster, 1, "create");
    cluster.pass(400);
    const rotate = (requestId: string, baseGeneration: number, assetOwner: string): string | undefined => {
      cluster.ask(2, requestId, posted(keyPath("k1", "rotate"), { baseGeneration, assetOwner }));
      cluster.pass(1_000);
      return codeOf(cluster, requestId);
    };
    expect([rotate("one", 1, "alice"), rotate("the same", 1, "alice"), rotate("two", 2, "bob")]).toEqual([
      "KeyMade",
      "KeyMade",
      "KeyMade",
    ]);
    expect([rotate("late", 1, "alice"), rotate("never asked", 1, "bob")]).toEqual([
      "GENERATION_MOVED",
      "GENERATION_MOVED",
    ]);
    expect(cluster.answers.get("late")).toMatchObject({ rejection: { hint: expect.stringMatching(/^Read the next/) } });
    expect(rowsOf(cluster, "generations")).toEqual([3, 3, 3]);
  });

  it.each(["rotate", "refresh"] as const)("by %s follows the one that was named, once", (act) => {
    const cluster = keyed();
    create(cluster, 1, "create");
    cluster.pass(400);
    renew(cluster, 3, "first", act, 1);
    cluster.pass(400);
    renew(cluster, 2, "again", act, 1);
    renew(cluster, 2, "wrong", act === "rotate" ? "refresh" : "rotate", 1);
    cluster.pass(1_000);
    const [made, before] = [cluster.answers.get("first"), cluster.answers.get("create")];
    if (made?._tag !== "KeyMade" || before?._tag !== "KeyMade") throw new Error("no key was made");
    expect(made.generation.publicKey === before.generation.publicKey).toBe(act === "refresh");
    expect(made.generation.group.verifyingShares).not.toEqual(before.generation.group.verifyingShares);
    expect(cluster.answers.get("again")).toMatchObject({ _tag: "KeyMade", created: false, key: { generation: 2 } });
    expect(codeOf(cluster, "wrong")).toBe("GENERATION_MOVED");
    // Asked again later, it finds what was made for it, and nobody makes another.
    renew(cluster, 1, "later", "refresh", 2);
    cluster.pass(1_000);
    for (const through of peers) renew(cluster, through, `late ${through}`, act, 1);
    renew(cluster, 1, "still wrong", act === "rotate" ? "refresh" : "rotate", 1);
    cluster.pass(1_000);
    for (const through of peers)
      expect(cluster.answers.get(`late ${through}`)).toMatchObject({
        created: false,
        key: { generation: 3 },
        generation: { generation: 2, publicKey: made.generation.publicKey },
      });
    expect(codeOf(cluster, "still wrong")).toBe("GENERATION_MOVED");
    // The shares that a refresh replaces are erased once all have applied it.
    expect(held(cluster)).toEqual(each(1, act === "rotate" ? 2 : 1));
    expect(cluster.row(2, "generations", generationKey("k1", 1))?.state).toBe(
      act === "rotate" ? "HISTORICAL" : "SUPERSEDED",
    );
  });
});
