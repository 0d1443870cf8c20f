import { describe, expect, it } from "vitest";
import { altered } from "../../properties/cluster/AlteredEffects.ts";
import { type Cluster, crypto, whole, founded } from "../../properties/cluster/Cluster.ts";
import { comeBackOn, copyOf, declare, expectWhole, register, stateOf } from "../../properties/cluster/Restoring.ts";
import { SELF, slotKey } from "./Tables.ts";
import type { Message, MessageOf } from "../Message.ts";
import type { SnapshotItem as Item } from "./Snapshot.ts";
import type { PeerId } from "./Topology.ts";

describe("an offer", () => {
  const offered = (change: (offer: MessageOf<"SnapshotOffer">) => Message | undefined, from = 1): Cluster => {
    const cluster = founded();
    register(cluster, "alice", 7);
    const old = copyOf(cluster.tables.get(3));
    register(cluster, "bob", 8);
    register(cluster, "carol", 9);
    cluster.tamper = (sender, _to, message) => {
      // Whatever it has already, it is offered all.
      if (message._tag === "SnapshotRequest") return { ...message, here: undefined };
      return message._tag === "SnapshotOffer" && sender === from ? change(message) : message;
    };
    comeBackOn(cluster, 3, old);
    return cluster;
  };

  it.each([
    ["leaves one record out", (offer: MessageOf<"SnapshotOffer">) => ({ ...offer, items: offer.items.slice(0, -1) })],
    [
      "changes what a certificate registers",
      (offer: MessageOf<"SnapshotOffer">) => ({
        ...offer,
        items: offer.items.map((item, index) =>
          index === 1 && item.certificate !== undefined
            ? {
                ...item,
                certificate: {
                  ...item.certificate,
                  proposal: altered(item.certificate.proposal, { id: "mallory" }),
                },
              }
            : item,
        ),
      }),
    ],
    [
      "leaves a receipt out",
      (offer: MessageOf<"SnapshotOffer">) => ({
        ...offer,
        items: offer.items.map((item) =>
          item.certificate === undefined
            ? item
            : { ...item, certificate: { ...item.certificate, receipts: item.certificate.receipts.slice(1) } },
        ),
      }),
    ],
    [
      "puts a record into another slot",
      (offer: MessageOf<"SnapshotOffer">) => ({
        ...offer,
        items: offer.items.map((item, index) => (index === 2 ? { ...item, key: slotKey(1, 9) } : item)),
      }),
    ],
    [
      "says that a registration was aborted",
      (offer: MessageOf<"SnapshotOffer">) => ({
        ...offer,
        items: offer.items.map((item, index) =>
          index === 2 ? { ...item, certificate: undefined, writerReceipt: item.certificate?.receipts[0] } : item,
        ),
      }),
    ],
    [
      "is of another root",
      (offer: MessageOf<"SnapshotOffer">) => ({ ...offer, cutoff: { ...offer.cutoff, root: offer.nonce } }),
    ],
  ])("that %s is not taken; another member's is", (_what, change) => {
    const asked: Array<number> = [];
    const cluster = offered((offer) => {
      asked.push(1);
      return change(offer);
    });
    cluster.pass(2_000);
    expect(asked.length).toBeGreaterThan(0);
    cluster.pass(8_000);
    expectWhole(cluster, 3);
  });

  it("of an earlier recovery is not taken", () => {
    const cluster = founded();
    const kept: Array<MessageOf<"SnapshotOffer">> = [];
    const old = copyOf(cluster.tables.get(3));
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "SnapshotOffer") kept.push(message);
      return message;
    };
    declare(cluster, 3);
    cluster.pass(3_000);
    expectWhole(cluster, 0);
    register(cluster, "alice", 7);
    cluster.tamper = (_from, _to, message) => {
      const [earlier] = kept;
      return message._tag === "SnapshotOffer" && earlier !== undefined ? earlier : message;
    };
    comeBackOn(cluster, 3, old);
    cluster.pass(4_000);
    expect(stateOf(cluster, 3).rejoining.recovery).toBeDefined();
    expect(cluster.tables.get(3)?.get("approvers")?.size ?? 0).toBe(0);
    cluster.tamper = whole;
    cluster.pass(8_000);
    expectWhole(cluster, 1);
  });

  it("is not made by a member that has something undecided, or is being restored itself", () => {
    const cluster = founded();
    cluster.tamper = (from, _to, message) => (from === 3 && message._tag === "Votes" ? undefined : message);
    cluster.register(1, "request", "alice", 7);
    cluster.settle();
    declare(cluster, 3);
    cluster.settle();
    const offers: Array<number> = [];
    cluster.tamper = (from, _to, message) => {
      if (message._tag === "SnapshotOffer") offers.push(from);
      return message;
    };
    const {
      rejoining: { restored },
    } = stateOf(cluster, 3);
    for (const to of [1, 2])
      cluster.peers.get(to)?.dispatch({
        _tag: "Deliver",
        from: 3,
        message: {
          _tag: "SnapshotRequest",
          recoveryId: restored?.restoration.recoveryId ?? crypto.setDigest(crypto.emptySet),
          nonce: crypto.setDigest(crypto.emptySet),
          after: "",
          here: undefined,
        },
        actors: [],
      });
    expect(offers).toEqual([]);
    cluster.pass(10_000);
    expectWhole(cluster, 0);
  });

  it("of more than one page is taken in pages, also after a restart in between", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(2));
    for (let at = 0; at < 20; at++) cluster.register(1, `r${at}`, `id-${at}`, 20 + at);
    cluster.pass(8_000);
    let pages = 0;
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "SnapshotOffer" && ++pages === 2) return undefined;
      return message;
    };
    comeBackOn(cluster, 2, old);
    cluster.pass(700);
    expect(pages).toBe(2);
    expect(cluster.tables.get(2)?.get("approvers")?.size).toBe(16);
    expect(stateOf(cluster, 2).registry.approvers).toBe(0);
    cluster.peers.get(2)?.stop();
    cluster.start(2);
    cluster.pass(6_000);
    expectWhole(cluster, 20);
    expect(cluster.tables.get(2)?.get("audit")?.size).toBe(21);
    expect(cluster.row(2, "restore", SELF)?.recovering).toBe(false);
  });

  it.each([
    [
      "was aborted",
      (item: Item) => [{ ...item, certificate: undefined, writerReceipt: item.certificate?.receipts[0] }],
    ],
    ["never was", () => []],
  ])("believes nobody that a revision that others built on %s", (_what, change) => {
    const cluster = founded();
    register(cluster, "alice", 7);
    const old = copyOf(cluster.tables.get(3));
    const ref = [...(cluster.tables.get(1)?.get("approvers")?.keys() ?? [])][0] ?? "";
    for (const revision of [1, 2]) {
      cluster.replace(1, `replace ${revision}`, ref, `"${revision}"`, { team: `t${revision}` });
      cluster.pass(1_500);
      expect(cluster.answers.get(`replace ${revision}`)).toMatchObject({ _tag: "Replaced" });
    }
    let lies = 0;
    cluster.tamper = (from, _to, message) => {
      if (from !== 1 || message._tag !== "SnapshotOffer") return message;
      lies += 1;
      return { ...message, items: message.items.flatMap((item, at) => (at === 1 ? change(item) : [item])) };
    };
    comeBackOn(cluster, 3, old);
    cluster.pass(10_000);
    expect(lies).toBeGreaterThan(0);
    expectWhole(cluster, 1);
    for (const seq of [1, 2, 3]) expect(cluster.row(3, "slots", slotKey(1, seq))).toMatchObject({ outcome: "APPLIED" });
    expect(cluster.tables.get(3)?.get("audit")?.size).toBe(4);
  });

  it("takes no more away in one transaction than fits, whatever an offer leaves out", () => {
    const cluster = founded();
    for (let at = 0; at < 140; at++) cluster.register(1, `r${at}`, `id-${at}`, at);
    cluster.pass(8_000);
    let lies = 0;
    cluster.tamper = (from, _to, message) => {
      if (from !== 1 || message._tag !== "SnapshotOffer") return message;
      lies += 1;
      return { ...message, items: [], upTo: undefined, alike: undefined };
    };
    const before = cluster.committed.length;
    declare(cluster, 3);
    cluster.pass(10_000);
    expect(lies).toBeGreaterThan(1);
    const sizes = cluster.committed
      .slice(before)
      .map(({ changes }) => changes.filter(({ table }) => table === "slots"));
    expect(Math.max(...sizes.map((changes) => changes.length))).toBe(128);
    expectWhole(cluster, 140);
  });

  it("leaves out what the restored member has already, but for the first that differs", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    const old = copyOf(cluster.tables.get(3));
    register(cluster, "bob", 8);
    const items: Array<number> = [];
    cluster.tamper = (_from, _to, message) => {
      if (message._tag === "SnapshotOffer") items.push(message.items.length);
      return message;
    };
    declare(cluster, 3);
    cluster.pass(5_000);
    expectWhole(cluster, 2);
    expect(new Set(items)).toEqual(new Set([0]));
    items.splice(0);
    comeBackOn(cluster, 3, old);
    cluster.pass(5_000);
    expectWhole(cluster, 2);
    expect(new Set(items)).toEqual(new Set([0, 1]));
  });

  it("leaves out too what is there after a pass that took something away", () => {
    const cluster = founded();
    register(cluster, "alice", 7);
    register(cluster, "bob", 8);
    const offers: Array<readonly [PeerId, number]> = [];
    cluster.tamper = (from, _to, message) => {
      // At first it gives all that it has, and keeps the last of it back.
      if (message._tag === "SnapshotRequest" && offers.length === 0) return { ...message, here: undefined };
      if (message._tag !== "SnapshotOffer") return message;
      offers.push([from, message.items.length]);
      return offers.length === 1 ? { ...message, items: message.items.slice(0, 1) } : message;
    };
    declare(cluster, 3);
    cluster.pass(5_000);
    expectWhole(cluster, 2);
    expect(offers).toEqual([
      [1, 2],
      [1, 0],
      [1, 1],
    ]);
  });

  it("goes on where it was when the restored member's process ended", () => {
    const cluster = founded();
    const old = copyOf(cluster.tables.get(3));
    for (let at = 0; at < 40; at++) cluster.register(1, `r${at}`, `id-${at}`, at);
    cluster.pass(8_000);
    let pages = 0;
    const sizes: Array<number> = [];
    cluster.tamper = (_from, to, message) => {
      if (message._tag !== "SnapshotOffer") return message;
      pages += 1;
      if (pages === 3) cluster.peers.get(to)?.stop();
      if (pages === 3) return undefined;
      sizes.push(message.items.length);
      return message;
    };
    comeBackOn(cluster, 3, old);
    cluster.pass(1_000);
    expect(sizes).toEqual([16, 16]);
    cluster.start(3);
    cluster.pass(8_000);
    expectWhole(cluster, 40);
    expect(sizes).toEqual([16, 16, 0, 8]);
  });

  it.each([
    ["says that all is alike where it is not", (offer: MessageOf<"SnapshotOffer">) => ({ ...offer, items: [] })],
    ["says that, and gives something all the same", (offer: MessageOf<"SnapshotOffer">) => offer],
    [
      "says that of more slots than were compared",
      (offer: MessageOf<"SnapshotOffer">) => ({ ...offer, items: [], upTo: slotKey(1, 3) }),
    ],
  ])("that %s is not taken; another member's is", (_what, change) => {
    const cluster = founded();
    register(cluster, "alice", 7);
    register(cluster, "bob", 8);
    const old = copyOf(cluster.tables.get(3));
    register(cluster, "carol", 9);
    let [span, lies] = [undefined, 0] as [MessageOf<"SnapshotRequest">["here"], number];
    cluster.tamper = (sender, _to, message) => {
      if (message._tag === "SnapshotRequest") span = message.here;
      if (message._tag !== "SnapshotOffer" || sender !== 1) return message;
      lies += 1;
      return change({ ...message, alike: span?.digest, upTo: message.upTo ?? span?.upTo });
    };
    comeBackOn(cluster, 3, old);
    cluster.pass(10_000);
    expect(lies).toBeGreaterThan(0);
    expectWhole(cluster, 3);
  });
});
