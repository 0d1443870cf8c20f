import { Either } from "effect";
import { beforeAll, describe, expect, it } from "vitest";
import { commands } from "../../core/commands/Commands.ts";
import type { Digest, PublicKey } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import { modeOf } from "../../core/protocol/Mode.ts";
import type { PinnedTopology } from "../../core/protocol/Topology.ts";
import { Cluster, crypto } from "../../properties/cluster/Cluster.ts";
import { keyOf } from "../../properties/cluster/Crypto.ts";
import { beforePromotion, planOf, promote } from "../../properties/cluster/Promoting.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { type Opening, openEnvelope, sealEnvelope, TOO_MUCH } from "../../runtime/EnvelopeCodec.ts";
import { HeardOnce } from "../peer/HeardOnce.ts";
import { Strangers } from "./Strangers.ts";

const cluster = new Cluster(3);
beforeAll(() => cluster.pass(3_000));

let drawn = 0;
const nonce = (): Digest => (drawn += 1).toString(16).padStart(64, "0") as Digest;
const freshKey = () => keyOf(crypto.derive("5a".repeat(32) as never, `stranger ${(drawn += 1)}`));

/** Whether the bound was reached, or what else came of it. */
const cameOf = (opened: ReturnType<typeof openEnvelope>): string =>
  Either.isRight(opened) ? "opened" : opened.left === TOO_MUCH ? "too much" : "refused";

/** Peer 1 as messages come to it, and the keys that it has judged or verified with. */
const receiver = () => {
  const clock = { now: 0 };
  const used = new Map<PublicKey, number>();
  const counting: typeof crypto = {
    ...crypto,
    verify: (key, ...rest) => {
      used.set(key, (used.get(key) ?? 0) + 1);
      return crypto.verify(key, ...rest);
    },
  };
  const strangers = new Strangers(() => clock.now);
  const heard = new HeardOnce();
  const open = (bytes: Uint8Array | undefined, address: string, isProven = false, member?: number): string => {
    if (bytes === undefined) throw new Error("the test expects an envelope");
    const opening: Opening = { ...strangers.of(address, isProven), named: undefined, isFirst: heard.isFirst };
    return cameOf(openEnvelope(counting, stateOf(cluster, 1), bytes, commands, member, opening));
  };
  return { clock, used, open };
};

const signedBy = (key: ReturnType<typeof keyOf>, message: Message, sender = 2) =>
  sealEnvelope(stateOf(cluster, sender), key, nonce(), 1, message);

/** A card, by default under a key of its own in the name of peer 2. */
const card = (key = freshKey(), sender = 2) => {
  const { peer } = stateOf(cluster, sender).cluster;
  if (peer === undefined) throw new Error("it is initialized");
  const { peerId, threshold, total } = peer;
  const configDigest = "11".repeat(32) as Digest;
  const said = { version: 1, peerId, threshold, total, configDigest, nonce: nonce(), development: false };
  return signedBy(key, { _tag: "GenesisCard", card: { ...said, identityKey: key.publicKey }, mac: undefined }, sender);
};

const decision = (members: number) => {
  const { pinned } = stateOf(cluster, 1).cluster;
  if (pinned === undefined) throw new Error("it is pinned");
  const key = freshKey();
  const [first, ...others] = Array.from({ length: members }, freshKey);
  const topology = (keys: ReadonlyArray<{ readonly publicKey: PublicKey }>): PinnedTopology => ({
    ...pinned,
    topology: {
      ...pinned.topology,
      members: keys.map(({ publicKey }, at) => ({ peerId: at + 1, shareIndex: at + 1, identityKey: publicKey })),
    },
  });
  const draft = { members: [], root: nonce(), principalDigest: nonce(), nonce: nonce(), oldDigest: nonce() };
  const more = { version: 3, clusterId: nonce(), source: 2, epoch: 2, threshold: 2, development: false };
  return signedBy(key, {
    _tag: "Promotion.Decided",
    identityKey: key.publicKey,
    draft: { ...draft, ...more, firstSlot: 1, approvers: 0 },
    previous: topology(first === undefined ? [] : [first]),
    pinned: topology(others),
  });
};

const byMember = () => signedBy(cluster.keys.get(2) ?? freshKey(), { _tag: "Forwarded", requestId: "r" });

describe("a stranger that shows a fresh key with each message", () => {
  it("has few of them judged, and leaves members, other addresses and proven connections what they need", () => {
    const { clock, used, open } = receiver();
    const came = Array.from({ length: 300 }, () => open(card(), "stranger"));
    expect(came.filter((each) => each === "opened")).toHaveLength(96);
    expect(came.at(-1)).toBe("too much");
    // Of those that were refused no key has been looked at; the member's own was, in whose name they came.
    expect([...used.keys()].filter((key) => key !== cluster.keys.get(2)?.publicKey)).toHaveLength(96);
    expect([open(card(), "another"), open(card(), "stranger", true)]).toEqual(["opened", "opened"]);
    for (const address of ["stranger", "another", "a third"]) expect(open(byMember(), address)).toBe("opened");
    clock.now += 50;
    expect([open(card(), "stranger"), open(card(), "stranger")]).toEqual(["opened", "too much"]);
  });

  it("from many addresses leaves one to whoever comes for the first time", () => {
    const { open } = receiver();
    for (let address = 0; address < 8; address++)
      for (let times = 0; times < 64; times++) open(card(), `stranger ${address}`);
    expect([open(card(), "stranger 0"), open(card(), "a newcomer")]).toEqual(["too much", "opened"]);
    expect([open(byMember(), "stranger 0"), open(byMember(), "a member's")]).toEqual(["opened", "opened"]);
  });

  it("has the same key judged once, and that of a member never", () => {
    const { open } = receiver();
    const key = freshKey();
    for (let times = 0; times < 200; times++) expect(open(card(key), "stranger")).toBe("opened");
    for (let times = 0; times < 200; times++) open(card(), "stranger");
    expect(open(card(key), "stranger")).toBe("opened");
    expect(open(card(), "stranger")).toBe("too much");
    expect(open(card(cluster.keys.get(2)), "stranger")).toBe("opened");
  });

  it("pays for each key that a decision shows, and a decision of as many as there may be is judged", () => {
    const { open } = receiver();
    expect(open(decision(64), "stranger")).toBe("opened");
    const large = decision(64);
    expect([open(large, "stranger"), open(card(), "stranger")]).toEqual(["too much", "too much"]);
    // A member's are bounded too.
    const member = Array.from({ length: 3 }, () => open(decision(64), "member 2", true, 2));
    expect(member).toEqual(["opened", "too much", "too much"]);
  });

  it("pays for all signatures that a decision comes with, each time it is sent", () => {
    const { clock, open } = receiver();
    const sent = decision(64);
    // Its keys are judged once; with that of the envelope they are 65 signatures of 1,024.
    const came = Array.from({ length: 18 }, () => open(sent, "stranger"));
    expect(came.map((each) => each === "opened")).toEqual([...Array(16).fill(true), false, false]);
    clock.now += 2 * 65;
    expect([open(sent, "stranger"), open(sent, "stranger")]).toEqual(["opened", "too much"]);
  });

  it("is heard out by and by, where one message has more keys than are left", () => {
    const { clock, open } = receiver();
    expect(open(decision(60), "source")).toBe("opened");
    const large = decision(60);
    let tries = 0;
    for (; open(large, "source") === "too much"; tries++) clock.now += 500;
    expect(tries).toBeGreaterThan(0);
    expect(tries).toBeLessThan(10);
  });
});

describe("a stranger that signs badly in a member's name", () => {
  const forged = () => signedBy(keyOf(new Uint8Array(32).fill(99)), { _tag: "Forwarded", requestId: "r" });

  it("has few signatures verified, and what members send is refused nowhere else", () => {
    const { clock, used, open } = receiver();
    const came = Array.from({ length: 1_100 }, () => open(forged(), "stranger"));
    expect(came.filter((each) => each === "refused")).toHaveLength(1_024);
    expect([...used.values()]).toEqual([1_024]);
    expect(open(byMember(), "stranger")).toBe("too much");
    expect([open(byMember(), "a member's"), open(byMember(), "stranger", true)]).toEqual(["opened", "opened"]);
    clock.now += 2;
    expect(open(byMember(), "stranger")).toBe("opened");
  });

  it("from many addresses takes nothing from one that has sent none", () => {
    const { open } = receiver();
    for (let address = 0; address < 2; address++)
      for (let times = 0; times < 1_000; times++) open(forged(), `stranger ${address}`);
    expect([open(forged(), "stranger 0"), open(byMember(), "a member's")]).toEqual(["too much", "opened"]);
  });

  it("costs a member nothing, however much that says", () => {
    const { open } = receiver();
    for (let times = 0; times < 3_000; times++) expect(open(byMember(), "a member's")).toBe("opened");
  });
});

describe("a stranger that has kept a member's message", () => {
  it("gets it taken in once", () => {
    const { open } = receiver();
    const [kept, later] = [byMember(), byMember()];
    expect([open(kept, "stranger"), open(kept, "stranger"), open(later, "a member's")]).toEqual([
      "opened",
      "refused",
      "opened",
    ]);
    expect(open(kept, "a member's")).toBe("refused");
  });

  it("gets what shows the member's key taken in once, whoever it names as the sender", () => {
    const { open } = receiver();
    const key = cluster.keys.get(2) ?? freshKey();
    for (const sender of [2, 3]) {
      const kept = card(key, sender);
      expect([open(kept, "stranger"), open(kept, "stranger")]).toEqual(["opened", "refused"]);
    }
  });
});

/** Every peer hears all others from one address. */
const behindOne = (all: Cluster): void => {
  const ports = new Map<number, Pick<Opening, "isFirst"> & { readonly strangers: Strangers }>();
  all.opening = (to) => {
    const known = ports.get(to) ?? { strangers: new Strangers(() => all.now), isFirst: new HeardOnce().isFirst };
    ports.set(to, known);
    return { ...known.strangers.of("all", false), named: undefined, isFirst: known.isFirst };
  };
};

describe("a whole cluster behind one address", () => {
  it("is founded", () => {
    const all = new Cluster(24);
    behindOne(all);
    all.pass(1_500);
    for (const peerId of [1, 12, 24]) expect(stateOf(all, peerId).cluster.pinned).toBeDefined();
  });

  it("is promoted", () => {
    const all = beforePromotion(2, 9);
    behindOne(all);
    promote(all, "promote", planOf(9, 2));
    all.pass(15_000);
    for (let peerId = 1; peerId <= 9; peerId++) expect(modeOf(stateOf(all, peerId))).toBe("active");
  });
});
