/** A member that lies to a restored one: what is taken over from it comes to another root, and has cost no share. */
import { describe, expect, it } from "vitest";
import { type Cluster, codeOf, crypto, rowsOf, whole } from "../../../properties/cluster/Cluster.ts";
import { create, destroy, each, held, keeper, keyed, renew } from "../../../properties/cluster/Keyed.ts";
import { beforePromotion, promote } from "../../../properties/cluster/Promoting.ts";
import { comeBackOn, copyOf, declare, expectWhole, stateOf } from "../../../properties/cluster/Restoring.ts";
import type { MemoryTables } from "../../../runtime/MemoryByteStore.ts";
import type { Certificate } from "../../protocol/Certificate.ts";
import { modeOf } from "../../protocol/Mode.ts";
import { proposalId } from "../../protocol/Proposal.ts";
import { slotKey } from "../../protocol/Tables.ts";
import { generationKey } from "./Tables.ts";

/** The first page of peer 1, and no other, has these changes in it and says that there are no more. */
const lying = (cluster: Cluster, certificates: ReadonlyArray<Certificate>): (() => number) => {
  let lies = 0;
  cluster.tamper = (from, to, message) => {
    if (from !== 1 || message._tag !== "SnapshotOffer" || lies > 0) return whole(from, to, message);
    lies += 1;
    const items = certificates.map((certificate) => ({
      key: slotKey(certificate.proposal.epoch, certificate.proposal.seq),
      proposalId: proposalId(crypto, certificate.proposal),
      certificate,
      writerReceipt: undefined,
    }));
    return { ...message, items, upTo: undefined, alike: undefined };
  };
  return () => lies;
};

const certificatesOf = (cluster: Cluster): ReadonlyArray<Certificate> => {
  const slots = [...(cluster.tables.get(1)?.get("slots")?.keys() ?? [])].toSorted();
  return slots.flatMap((key) => {
    const slot = cluster.row(1, "slots", key);
    return (slot && cluster.row(1, "certificates", slot.proposalId)) ?? [];
  });
};

/** The certificate that all would make of a change, if they did not come back on their disks of before. */
const otherwise = (cluster: Cluster, change: () => void): Certificate => {
  const disks = [1, 2, 3].map((peerId) => copyOf(cluster.tables.get(peerId)));
  change();
  cluster.pass(2_000);
  const last = certificatesOf(cluster).at(-1);
  for (const [at, disk] of disks.entries()) comeBackOn(cluster, at + 1, disk, false);
  cluster.pass(3_000);
  if (last === undefined) throw new Error("nothing was certified");
  return last;
};

const made = (cluster: Cluster): Cluster => {
  create(cluster, 1, "made");
  cluster.pass(2_000);
  expect(codeOf(cluster, "made")).toBe("KeyMade");
  return cluster;
};

describe("a restored peer whose disk is whole loses no share to a helper", () => {
  it("that offers nothing under the right root", () => {
    const cluster = made(keyed());
    renew(cluster, 1, "rotate", "rotate", 1);
    cluster.pass(2_000);
    const lies = lying(cluster, []);
    declare(cluster, 3);
    cluster.pass(10_000);
    expect(lies()).toBe(1);
    expectWhole(cluster, 0);
    expect(held(cluster)).toEqual(each(1, 2));
  });

  it("that offers nothing while it is the only one that has a key", () => {
    const cluster = beforePromotion(2);
    cluster.judge = () => keeper;
    create(cluster, 2, "made");
    cluster.pass(1_000);
    promote(cluster);
    cluster.pass(15_000);
    expect(rowsOf(cluster, "shares")).toEqual([0, 1, 0]);
    const lies = lying(cluster, []);
    declare(cluster, 2);
    cluster.pass(10_000);
    expect(lies()).toBe(1);
    expect([1, 2, 3].map((peerId) => modeOf(stateOf(cluster, peerId)))).toEqual(["active", "active", "active"]);
    renew(cluster, 3, "refresh", "refresh", 1);
    cluster.pass(2_000);
    expect(codeOf(cluster, "refresh")).toBe("KeyMade");
    expect(rowsOf(cluster, "shares")).toEqual([1, 1, 1]);
  });

  it("that offers a destruction which was certified and never done", () => {
    const cluster = made(keyed());
    const destruction = otherwise(cluster, () =>
      destroy(cluster, 1, "destroy", { baseGeneration: 1, generation: 1, final: true }),
    );
    expect(destruction.proposal.kind).toBe("DESTROY");
    const lies = lying(cluster, [...certificatesOf(cluster), destruction]);
    declare(cluster, 3);
    cluster.pass(10_000);
    expect(lies()).toBe(1);
    expectWhole(cluster, 0);
    expect(cluster.row(3, "custodyKeys", "k1")?.status).toBe("ACTIVE");
    expect(held(cluster)).toEqual(each(1, 1));
  });

  it("that offers another key than the one its pending share is of", () => {
    const cluster = keyed();
    const other = otherwise(cluster, () => create(cluster, 2, "another"));
    let prepared: MemoryTables | undefined;
    cluster.tamper = (from, to, message) => {
      if (from === 3 && message._tag === "Votes") prepared ??= copyOf(cluster.tables.get(3));
      return whole(from, to, message);
    };
    made(cluster);
    const [mine] = certificatesOf(cluster);
    expect(mine?.proposal.effects).not.toEqual(other.proposal.effects);
    if (prepared === undefined) throw new Error("it was never prepared");
    const lies = lying(cluster, [other]);
    comeBackOn(cluster, 3, prepared);
    cluster.pass(10_000);
    expect(lies()).toBe(1);
    expectWhole(cluster, 0);
    expect(held(cluster)).toEqual(each(1, 1));
    expect(cluster.row(3, "generations", generationKey("k1", 1))).toEqual(
      cluster.row(1, "generations", generationKey("k1", 1)),
    );
  });
});
