import { Either } from "effect";
import { beforeAll, describe, expect, it } from "vitest";
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { Cluster, settingsOf } from "../../properties/cluster/Cluster.ts";
import { crypto, keyOf } from "../../properties/cluster/Crypto.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import { cryptoBackend } from "../crypto/CryptoBackend.ts";
import type { Outgoing } from "../transport/Outgoing.ts";
import { Envelopes } from "./Envelopes.ts";
import { Metrics } from "./Metrics.ts";

const cluster = new Cluster(2);
beforeAll(() => cluster.pass(3_000));

const source = keyOf(new Uint8Array(32).fill(77));

const envelopesOf = (
  peerId: PeerId,
  joins?: { readonly peerId: PeerId; readonly identityKey: typeof source.publicKey },
) => {
  const sent: Array<Outgoing> = [];
  const envelopes = new Envelopes({
    backend: { ...cryptoBackend("portable"), crypto },
    metrics: new Metrics(),
    settings: { ...settingsOf(peerId, 2), joins },
    send: (_to, message) => void sent.push(message),
    isInSession: () => false,
    state: () => stateOf(cluster, peerId),
    signer: () => (joins === undefined ? cluster.keys.get(peerId) : source),
  });
  return { envelopes, sent };
};

const standing = (identityKey: typeof source.publicKey): Message => ({
  _tag: "Promotion.Standing",
  identityKey,
  nonce: "ab".repeat(32) as Digest,
  fault: undefined,
});

/** Whoever comes with a key that nobody knows is refused. */
const scrutiny = () => {
  let spent = 0;
  return {
    mayVerify: () => true,
    mayJudge: () => false,
    unvouched: () => void (spent += 1),
    spent: () => spent,
  };
};

describe("a peer's envelopes", () => {
  it("may answer a member's question, but for what a stranger may ask for", () => {
    const { envelopes, sent } = envelopesOf(1);
    envelopes.send(2, { _tag: "Votes", statements: [] });
    envelopes.send(2, standing(source.publicKey));
    expect(sent.map(({ isAnswer }) => isAnswer)).toEqual([true, false]);
  });

  it("are opened once each, and again costs whoever sends it", () => {
    const [{ envelopes: from, sent }, { envelopes: to }] = [envelopesOf(1), envelopesOf(2)];
    from.send(2, { _tag: "Votes", statements: [] });
    const [packet] = sent.map((each) => each.packet);
    const { spent, ...look } = scrutiny();
    const open = () => Either.isRight(to.open(packet ?? new Uint8Array(0), undefined, look));
    expect([open(), spent(), open(), spent()]).toEqual([true, 0, false, 1]);
  });

  it("of the peer that the operator has named cost nothing, and those under another key do", () => {
    const joins = { peerId: 1, identityKey: source.publicKey };
    const [{ envelopes: from, sent }, { envelopes: to }] = [envelopesOf(1, joins), envelopesOf(2, joins)];
    const { envelopes: another } = envelopesOf(2);
    from.send(2, standing(source.publicKey));
    from.send(2, standing(source.publicKey));
    const { spent, ...look } = scrutiny();
    const [first, second] = sent.map(({ packet }) => packet);
    const isOpened = (at: Envelopes, packet?: Uint8Array) =>
      packet !== undefined && Either.isRight(at.open(packet, undefined, look));
    expect([isOpened(to, first), spent(), isOpened(another, second), spent()]).toEqual([true, 0, false, 1]);
  });
});
