import { changed } from "../properties/cluster/Changed.ts";
import type { StateFields } from "./protocol/StateFields.ts";
import { describe, expect, it } from "vitest";
import { type Cluster, founded } from "../properties/cluster/Cluster.ts";
import { announcedBy } from "../properties/cluster/Forging.ts";
import { openStep } from "../properties/cluster/OpenStep.ts";
import type { Digest } from "./base/Digest.ts";
import { takeStep } from "./Peer.ts";
import type { Message } from "./Message.ts";
import type { PeerId } from "./protocol/Topology.ts";

const cluster = founded();

/** The step of peer 1 on a message, in a state that differs from its own. No token is judged. */
const heard = (from: PeerId, message: Message, change: Partial<StateFields> = {}) => {
  const { state, context } = openStep(cluster, 1);
  return takeStep(changed(state, change), { _tag: "Deliver", from, message, actors: [] }, context);
};

/** The first message of a kind that somebody sends to peer 1 in a cluster of its own. */
const sentToFirst = (tag: Message["_tag"], what: (cluster: Cluster) => void): Message => {
  const other = founded();
  const sent: Array<Message> = [];
  other.tamper = (_from, to, message) => {
    if (to === 1 && message._tag === tag) sent.push(message);
    return message;
  };
  what(other);
  other.settle();
  const [first] = sent;
  if (first === undefined) throw new Error(`nobody sent a ${tag}`);
  return first;
};

describe("a peer that hears something under the writer's name", () => {
  const said = sentToFirst("Ready", (other) => other.register(1, "request", "alice", 7));

  it.each([
    ["knows that the writer is there where it is vouched for", { lowest: 1, highest: 2 }, true],
    ["does not take a stranger for it", undefined, false],
  ])("%s", (_what, versions, isHeard) => {
    const { state, context } = openStep(cluster, 2);
    const event = {
      _tag: "Deliver",
      from: 1,
      message: { ...said, sealed: true } as Message,
      versions,
      actors: [],
    } as const;
    const after = takeStep(changed(state, { writerHeardAt: -1 }), event, { ...context });
    expect(after.state.probing.writerHeardAt !== -1).toBe(isHeard);
  });
});

describe("a peer that hears what only members say", () => {
  const question: Message = { _tag: "SettleQuery", items: [], demandFinal: false, nonce: "ab".repeat(32) as Digest };

  it.each<readonly [string, PeerId, Partial<StateFields>, number]>([
    ["answers a member", 2, {}, 1],
    ["does not answer a stranger", 9, {}, 0],
    ["answers nobody before there is a topology", 2, { membership: undefined }, 0],
  ])("%s", (_what, from, change, answers) => {
    const { thenSend, writes } = heard(from, question, change);
    expect([thenSend.length, writes.length]).toEqual([answers, 0]);
  });

  it("refuses a request whose token nobody has judged as one that cannot be judged now", () => {
    const forward = sentToFirst("Forward", (other) => other.register(2, "request", "alice", 7));
    const { thenSend } = heard(2, forward);
    expect(thenSend).toContainEqual(
      expect.objectContaining({
        to: 2,
        message: expect.objectContaining({
          _tag: "Outcome",
          outcome: expect.objectContaining({
            rejection: expect.objectContaining({
              members: [{ peerId: 1, reason: "it cannot verify tokens: the keys of their issuer cannot be had" }],
            }),
          }),
        }),
      }),
    );
  });
});

describe("a peer that is told of another incarnation of a member", () => {
  const announced = announcedBy(cluster, 2, 7);
  const ready = sentToFirst("Ready", (other) => other.register(1, "request", "alice", 7));
  if (ready._tag !== "Ready") throw new Error("it is an answer to a probe");

  it.each<readonly [string, number, Partial<StateFields>]>([
    ["has it on record", 7, {}],
    ["does not where its own records do not hold", 1, { integrityFault: "keys/k" }],
    ["does not where it ran from an old disk itself", 1, { quarantine: "an old disk" }],
  ])("%s", (_what, incarnation, change) => {
    const { state, writes } = heard(2, { ...ready, restored: announced }, change);
    expect(state.signed.seen.get(2)?.incarnation).toBe(incarnation);
    expect(writes.some(({ table }) => table === "seen")).toBe(incarnation === 7);
  });
});
