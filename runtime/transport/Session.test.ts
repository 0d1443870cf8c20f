import { beforeAll, describe, expect, it } from "vitest";
import type { Digest } from "../../core/base/Digest.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { Cluster } from "../../properties/cluster/Cluster.ts";
import { noSession, type Ports, sessionPorts } from "../../properties/cluster/Sessions.ts";
import { Session } from "./Session.ts";

const cluster = new Cluster(3);
beforeAll(() => cluster.pass(3_000));

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** Both ends of a session from one member to another, before their handshake. */
const ends = (from = 1, to = 2, own: Partial<Ports> = {}, other: Partial<Ports> = {}) => ({
  opener: new Session("opener", { ...sessionPorts(cluster, from), ...own }),
  accepter: new Session("accepter", { ...sessionPorts(cluster, to), ...other }),
});

const shaken = (from = 1, to = 2, own: Partial<Ports> = {}, other: Partial<Ports> = {}) => {
  const both = ends(from, to, own, other);
  const { opener, accepter } = both;
  const hello = opener.hello(to);
  const welcome = hello && accepter.welcome(hello);
  const proof = welcome && opener.prove(welcome);
  const isProven = proof !== undefined && accepter.accept(proof);
  return { ...both, hello, welcome, proof, isProven };
};

describe("a session", () => {
  it("shows each end whom it has before it, and carries messages both ways in their order", () => {
    const { opener, accepter, isProven } = shaken();
    expect([isProven, opener.member, accepter.member]).toEqual([true, 2, 1]);
    for (const exchange of [1, 2, 3]) expect(accepter.open(exchange, opener.seal(exchange, text("there")))).toBe(true);
    for (const exchange of [2, 1]) expect(opener.open(exchange, accepter.seal(exchange, text("back")))).toBe(true);
  });

  it("takes no message twice, out of its turn, changed, or for another exchange, and goes on with the next one", () => {
    const { opener, accepter } = shaken();
    const [first, second] = [opener.seal(1, text("first")), opener.seal(2, text("second"))];
    expect(accepter.open(2, second)).toBe(false);
    expect(accepter.open(1, { ...first, content: text("other") })).toBe(false);
    expect(accepter.open(2, first)).toBe(false);
    expect(accepter.open(1, first)).toBe(true);
    expect(accepter.open(1, first)).toBe(false);
    expect(accepter.open(2, second)).toBe(true);
  });

  it("takes nothing of another link, of its own direction, or of the session before it", () => {
    const [before, now, elsewhere] = [shaken(), shaken(), shaken(1, 3)];
    const message = text("message");
    expect(now.accepter.open(1, before.opener.seal(1, message))).toBe(false);
    expect(now.accepter.open(1, elsewhere.opener.seal(1, message))).toBe(false);
    expect(now.opener.open(1, now.opener.seal(1, message))).toBe(false);
    expect(now.accepter.open(1, now.accepter.seal(1, message))).toBe(false);
  });

  it("is over as soon as either end is sealed, or has another key or topology", () => {
    for (const side of ["own", "other"] as const) {
      const [from, to] = [sessionPorts(cluster, 1), sessionPorts(cluster, 2)];
      let { signer, state } = side === "own" ? from : to;
      const changing: Partial<Ports> = { signer: () => signer(), state: () => state() };
      const { opener, accepter } = shaken(1, 2, side === "own" ? changing : {}, side === "own" ? {} : changing);
      const end = side === "own" ? opener : accepter;
      const known = state();
      const membership = known.cluster.membership && { ...known.cluster.membership, digest: "a".repeat(64) as Digest };
      const elsewhere: PeerState = { ...known, cluster: { ...known.cluster, membership } };
      expect(end.member).toBeDefined();
      state = () => elsewhere;
      expect(end.member).toBeUndefined();
      state = () => known;
      signer = () => undefined;
      expect(end.member).toBeUndefined();
      const sealed = side === "other" ? opener.seal(1, text("late")) : undefined;
      if (sealed !== undefined) expect(accepter.open(1, sealed)).toBe(false);
      signer = () => cluster.keys.get(3);
      expect(end.member).toBeUndefined();
    }
  });
});

describe("a handshake", () => {
  it("is begun and answered only by members that are not sealed", () => {
    expect(noSession("opener").hello(2)).toBeUndefined();
    expect(ends(1, 2, { signer: () => undefined }).opener.hello(2)).toBeUndefined();
    expect(ends().opener.hello(9)).toBeUndefined();
    const hello = ends().opener.hello(2);
    if (hello === undefined) throw new Error("a member says hello");
    expect(noSession("accepter").welcome(hello)).toBeUndefined();
    expect(ends(1, 2, {}, { signer: () => undefined }).accepter.welcome(hello)).toBeUndefined();
    expect(ends(1, 3).accepter.welcome(hello)).toBeUndefined();
    for (const wrong of [{ from: 9 }, { from: 2 }, { topologyDigest: "b".repeat(64) as Digest }])
      expect(ends().accepter.welcome({ ...hello, ...wrong })).toBeUndefined();
    // Of small order: everybody shares what comes of it.
    expect(ends().accepter.welcome({ ...hello, ephemeral: "0".repeat(64) as Digest })).toBeUndefined();
    expect(ends().accepter.welcome(hello)).toBeDefined();
  });

  it("ends where another than the member that was called has answered", () => {
    const stranger = { signer: () => cluster.keys.get(3) };
    expect(shaken(1, 2, {}, stranger)).toMatchObject({ proof: undefined, isProven: false });
    const { opener, accepter } = ends();
    const hello = opener.hello(2);
    const welcome = hello && accepter.welcome(hello);
    if (welcome === undefined) throw new Error("the member answers");
    expect(opener.prove({ ...welcome, ephemeral: `${welcome.ephemeral.slice(2)}00` as Digest })).toBeUndefined();
    // Only once: what it was an answer to is over.
    expect([opener.prove(welcome), opener.member]).toEqual([undefined, undefined]);
  });

  it("ends where another than the member that it names has begun it", () => {
    const { proof, isProven, accepter } = shaken(1, 2, { signer: () => cluster.keys.get(3) });
    expect(proof).toBeDefined();
    expect([isProven, accepter.member]).toEqual([false, undefined]);
  });

  it("is worth nothing a second time", () => {
    const { hello, welcome, proof } = shaken();
    if (hello === undefined || welcome === undefined || proof === undefined) throw new Error("it was good once");
    const { accepter, opener } = ends();
    expect(accepter.accept(proof)).toBe(false);
    accepter.welcome(hello);
    expect([accepter.accept(proof), accepter.member]).toEqual([false, undefined]);
    opener.hello(2);
    expect(opener.prove(welcome)).toBeUndefined();
  });

  it("makes other keys each time", () => {
    const macs = [shaken(), shaken()].map(({ opener }) => opener.seal(1, text("same")).mac);
    expect(new Set(macs).size).toBe(2);
  });
});
