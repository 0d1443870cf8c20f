import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { actor, type Cluster, founded, whole } from "../../properties/cluster/Cluster.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import { REGISTER_PATH } from "../commands/registerKey/Registration.ts";

describe("uncommitted preparations", () => {
  it("are 256 at most, expired ones included: the next request is refused 429 by name, until some are settled", () => {
    const cluster = founded();
    const uncommitted = (): ReadonlyArray<number | undefined> =>
      [1, 2].map((peerId) => cluster.peers.get(peerId)?.state.undecided.preparations.size);
    const oneMore = (through: number, requestId: string): void => {
      const publicKey64 = Buffer.alloc(32, 1).toString("base64");
      const body = { id: "one-more", credential: { type: "SIGNATURE", algorithm: "SLHDSA_SHA2_128S", publicKey64 } };
      const rawBody = utf8ToBytes(JSON.stringify(body));
      cluster.ask(through, requestId, { method: "POST", path: REGISTER_PATH, ifMatch: undefined, rawBody });
    };
    // Peer 3 refuses everything, and the votes to abort get lost: the preparations of the others stay.
    cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Refused", reason: "revoked" } : actor);
    cluster.tamper = (_from, _to, message) =>
      message._tag === "AbortRequest" || message._tag === "SettleAnswer" ? undefined : message;
    const most = CAPACITIES.preparations;
    expect(most).toBe(256);
    for (let seed = 0; seed < most; seed += 1) cluster.register(1, `r${seed}`, `id-${seed}`, seed);
    cluster.pass(100);
    expect(uncommitted()).toEqual([most, most]);
    const refusedFor = (peerId: number) => ({
      rejection: { code: "PREPARATION_CAPACITY", members: [{ peerId }], outcomeUnknown: false },
    });
    oneMore(1, "full");
    cluster.pass(2_000);
    // What the others said a moment ago still counts, so that the writer finds itself full.
    expect(cluster.answers.get("full")).toMatchObject(refusedFor(1));
    // Their deadline frees nothing.
    cluster.pass(Limits.proposalMillis + 1_000);
    oneMore(2, "after-the-deadline");
    cluster.pass(2_000);
    expect(cluster.answers.get("after-the-deadline")).toMatchObject(refusedFor(2));
    expect(uncommitted()).toEqual([most, most]);
    cluster.tamper = whole;
    cluster.judge = () => actor;
    cluster.pass(20_000);
    expect(uncommitted()).toEqual([0, 0]);
    oneMore(3, "settled");
    cluster.pass(2_000);
    expect(cluster.answers.get("settled")).toMatchObject({ _tag: "Registered", created: true });
  });
});

describe("what the writer holds for callers", () => {
  const MANY_BYTES = 255 * 1024;
  /** One more than there is room for. */
  const TOO_MANY = Math.floor(Limits.queuedBytes / MANY_BYTES) + 1;
  const last = (name: string): string => `${name}-${TOO_MANY - 1}`;

  /** Asks the writer to register a key of its own for each seed, in a body with so many bytes to spare. */
  const ask = (cluster: Cluster, requestId: string, seed: number, spaces = 0): void => {
    const publicKey64 = Buffer.alloc(32, seed).toString("base64");
    const credential = { type: "SIGNATURE", algorithm: "SLHDSA_SHA2_128S", publicKey64 };
    const rawBody = utf8ToBytes(`${JSON.stringify({ id: `id-${seed}`, credential })}${" ".repeat(spaces)}`);
    cluster.ask(1, requestId, { method: "POST", path: REGISTER_PATH, ifMatch: undefined, rawBody });
    cluster.settle();
  };
  const isTurnedAway = (cluster: Cluster, requestId: string): boolean => {
    const answer = cluster.answers.get(requestId);
    return answer?._tag === "Rejected" && answer.rejection.detail === "The writer has as much waiting as it may.";
  };

  /** A cluster in which peer 3 acknowledges nothing: certified changes stay open, and identical requests join. */
  const unacknowledged = (): Cluster => {
    const cluster = founded();
    cluster.tamper = (from, _to, message) => (from === 3 && message._tag === "CommitAcks" ? undefined : message);
    return cluster;
  };

  it("is 1,024 requests, those among them that have joined another one", () => {
    const cluster = unacknowledged();
    ask(cluster, "creator", 1);
    for (let index = 0; index < CAPACITIES.queuedCommands; index += 1) ask(cluster, `coalesced-${index}`, 1);
    expect([...cluster.answers.keys()].filter((each) => each.startsWith("coalesced"))).toEqual([]);
    ask(cluster, "one-more", 1);
    expect(isTurnedAway(cluster, "one-more")).toBe(true);
  });

  it("is 32 MiB of bodies, of those too that have joined another one", () => {
    const cluster = unacknowledged();
    ask(cluster, "creator", 1);
    const names = Array.from({ length: TOO_MANY }, (_, index) => `coalesced-${index}`);
    for (const name of names) ask(cluster, name, 1, MANY_BYTES);
    expect(names.filter((name) => cluster.answers.has(name))).toEqual([last("coalesced")]);
    expect(isTurnedAway(cluster, last("coalesced"))).toBe(true);
    cluster.tamper = whole;
    cluster.pass(3_000);
    expect(cluster.answers.get("coalesced-0")).toMatchObject({ _tag: "Registered", created: false });
  });

  it("is 32 MiB of bodies, of those too that are prepared, while nobody else waits", () => {
    const cluster = founded();
    cluster.tamper = (_from, to, message) => (message._tag === "Prepare" && to === 3 ? undefined : message);
    const names = Array.from({ length: TOO_MANY }, (_, index) => `large-${index}`);
    for (const [index, name] of names.entries()) {
      ask(cluster, name, index + 1, MANY_BYTES);
      // A `Prepare` that lacks a receipt holds up the next one for a second.
      if (index % 16 === 15) cluster.pass(1_100);
    }
    expect(names.filter((name) => isTurnedAway(cluster, name))).toEqual([last("large")]);
  });

  it("is no body of what is certified, whoever has not acknowledged it", () => {
    const cluster = unacknowledged();
    const names = Array.from({ length: TOO_MANY + 1 }, (_, index) => `large-${index}`);
    for (const [index, name] of names.entries()) ask(cluster, name, index + 1, MANY_BYTES);
    const rounds = [...(cluster.peers.get(1)?.state.undecided.rounds.values() ?? [])];
    expect(rounds.map(({ evidence }) => evidence === undefined)).toEqual(names.map(() => true));
    cluster.tamper = whole;
    cluster.pass(3_000);
    for (const name of names) expect(cluster.answers.get(name), name).toMatchObject({ created: true });
  });
});
