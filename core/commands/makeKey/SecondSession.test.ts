/**
 * A writer that lies: it holds back the proposal of one session, lets another of the same request begin once the members
 * have forgotten the first, and has them vote for the first while the second is under way.
 */
import { describe, expect, it } from "vitest";
import type { Cluster } from "../../../properties/cluster/Cluster.ts";
import { create, held, keyed, renew } from "../../../properties/cluster/Keyed.ts";
import type { Message } from "../../Message.ts";
import type { SignedStatement } from "../../protocol/Statement.ts";
import type { PeerId } from "../../protocol/Topology.ts";

type MessageOf<T extends Message["_tag"]> = Extract<Message, { readonly _tag: T }>;

const HONEST: ReadonlyArray<PeerId> = [2, 3];

const restarted = (cluster: Cluster, peerId: PeerId): void => {
  cluster.peers.get(peerId)?.stop();
  cluster.start(peerId);
};

const sealed = (cluster: Cluster, peerId: PeerId): void => {
  cluster.dispatch(peerId, { _tag: "Sealed" });
  cluster.unseal(peerId);
};

/** The writer begins again from what it had before, as if it had lived twice; the others forget their sessions. */
const forgetting = (cluster: Cluster, forgets: typeof sealed, act: () => void): void => {
  const before = new Map([...(cluster.tables.get(1) ?? [])].map(([name, rows]) => [name, new Map(rows)]));
  act();
  cluster.peers.get(1)?.stop();
  cluster.tables.set(1, before);
  cluster.start(1);
  for (const peerId of HONEST) forgets(cluster, peerId);
  cluster.pass(700);
};

/** @param ask asks for the same thing through a member */
const attack = (cluster: Cluster, forgets: typeof sealed, ask: (through: PeerId, requestId: string) => void): void => {
  const prepares = new Map<PeerId, MessageOf<"Prepare">>();
  forgetting(cluster, forgets, () => {
    cluster.tamper = (_from, to, message) => {
      if (message._tag !== "Prepare") return message;
      if (!prepares.has(to)) prepares.set(to, message);
      return undefined;
    };
    ask(2, "first");
    cluster.pass(400);
  });
  expect(held(cluster).pending.slice(1)).toEqual([1, 1]);

  const shares = new Map<PeerId, MessageOf<"Keygen.Share">>();
  const receipts: Array<SignedStatement> = [];
  cluster.tamper = (from, to, message) => {
    if (message._tag === "Prepare") return undefined;
    if (from === 1 && message._tag === "Keygen.Share") {
      shares.set(to, message);
      return undefined;
    }
    if (message._tag === "Votes") receipts.push(...message.statements);
    return message;
  };
  ask(3, "second");
  cluster.pass(300);
  for (const [to, prepare] of prepares) cluster.deliver(to, 1, prepare);
  cluster.settle();
  expect(receipts.map(({ statement, header }) => [header.peerId, statement.kind])).toEqual([
    [2, "RECEIPT"],
    [3, "RECEIPT"],
  ]);
  for (const [to, share] of shares) cluster.deliver(to, 1, share);
  cluster.settle();

  const [item] = prepares.get(2)?.items ?? [];
  if (item === undefined) throw new Error("nothing was proposed");
  const certificates = [{ proposal: item.proposal, receipts: [item.receipt, ...receipts] }];
  for (const stableSeq of [0, item.proposal.seq]) {
    for (const to of HONEST) cluster.deliver(to, 1, { _tag: "Commit", certificates, acks: [], stableSeq });
    cluster.pass(200);
  }
};

describe("a second session beside the proposal of the first", () => {
  it("leaves every member its share of a new key", () => {
    const cluster = keyed();
    attack(cluster, restarted, (through, requestId) => create(cluster, through, requestId));
    expect(held(cluster)).toMatchObject({ keys: [0, 1, 1], shares: [0, 1, 1], pending: [0, 0, 0] });
  });

  it.each([
    ["were restarted", restarted],
    ["were sealed", sealed],
  ])("leaves every member its share of a key that is refreshed, where they %s", (_how, forgets) => {
    const cluster = keyed();
    create(cluster, 2, "made");
    cluster.pass(3_000);
    attack(cluster, forgets, (through, requestId) => renew(cluster, through, requestId, "refresh", 1));
    expect(held(cluster)).toMatchObject({ shares: [1, 1, 1], pending: [0, 0, 0] });
  });
});
