/**
 * Bulk runs bypass the envelope's bytes; the rule of what is accepted must be the same. Every kind of packet goes
 * through both wires, to every kind of receiver.
 */
import { NEWEST } from "../core/codec/Versioned.ts";
import { describe, expect, it } from "vitest";
import type { Digest, PublicKey } from "../core/base/Digest.ts";
import type { PeerState } from "../core/protocol/PeerState.ts";
import type { Message } from "../core/Message.ts";
import { realCryptography } from "../sim/crypto/Cryptography.ts";
import { Prng } from "../sim/base/Prng.ts";
import { byteWire, valueWire } from "../sim/network/Wire.ts";

const { crypto, newKeys } = realCryptography(new Prng(1));
const own = newKeys().identity;
const stranger = newKeys().identity;
const digest = (character: string) => character.repeat(64) as Digest;
const NONCE = digest("1");

const peerRow = (peerId: number) => ({
  peerId,
  threshold: 2,
  total: 3,
  identityKey: own.publicKey,
  integrityKey: own.publicKey,
  nonce: digest("2"),
  unsealedOnce: true,
});

const founding = { cards: new Map(), vote: undefined, signatures: new Map(), faults: new Map() };
/** Only what envelopes look at. */
const stateOf = (peerId: number | undefined, more: object = {}): PeerState =>
  ({
    cluster: {
      peer: peerId === undefined ? undefined : peerRow(peerId),
      membership: undefined,
      founding,
      spoken: new Map(),
      ...more,
    },
  }) as unknown as PeerState;

const member = (topology: string, keys: ReadonlyArray<readonly [number, PublicKey]>) => ({
  membership: { digest: digest(topology), keys: new Map(keys) },
});
const card = (key: PublicKey) => ({
  version: NEWEST,
  peerId: 1,
  identityKey: key,
  threshold: 2,
  total: 3,
  configDigest: digest("3"),
  nonce: digest("4"),
  development: false,
});
const ready = (sealed: boolean): Message => ({
  _tag: "Ready",
  nonce: NONCE,
  peerId: 1,
  topologyDigest: undefined,
  configDigest: digest("3"),
  mode: "active",
  sealed,
  integrityOk: true,
  judgesTokens: true,
  moment: undefined,
  incarnation: 1,
  batchNo: 0,
  batchHash: digest("5"),
  highSeq: 0,
  highSeqProof: undefined,
  uncommitted: 0,
  refusals: 0,
  registryRoot: digest("6"),
  clock: 1,
  approvers: 0,
  seen: undefined,
  restored: undefined,
  recorded: undefined,
});

const messages: ReadonlyArray<readonly [string, Message]> = [
  ["a card", { _tag: "GenesisCard", card: card(own.publicKey), mac: digest("7") }],
  ["a card with another's key", { _tag: "GenesisCard", card: card(stranger.publicKey), mac: digest("7") }],
  ["a refusal", { _tag: "GenesisRefused", card: card(own.publicKey), mac: digest("7"), reason: "no" }],
  [
    "a vote for the topology",
    {
      _tag: "GenesisVote",
      topologyDigest: digest("a"),
      signature: own.sign("T", { write: () => {}, read: () => 0 }, 0),
    },
  ],
  [
    "a probe",
    {
      _tag: "ReadyProbe",
      nonce: NONCE,
      topologyDigest: digest("a"),
      configDigest: digest("3"),
      process: undefined,
      seen: undefined,
      restored: undefined,
      recorded: undefined,
    },
  ],
  ["an answer to a probe", ready(false)],
  ["a sealed peer's answer", ready(true)],
  ["votes", { _tag: "Votes", statements: [] }],
];

const senders: ReadonlyArray<readonly [string, PeerState]> = [
  ["nobody", stateOf(undefined)],
  ["a founding peer", stateOf(1)],
  ["a member", stateOf(1, member("a", []))],
  ["a member of another cluster", stateOf(1, member("b", []))],
];
const vote = (key: PublicKey) => ({
  founding: { ...founding, vote: { topology: { members: [{ peerId: 1, identityKey: key }] } } },
});
const receivers: ReadonlyArray<readonly [string, PeerState]> = [
  ["nobody", stateOf(undefined)],
  ["another peer", stateOf(3)],
  ["a founding peer", stateOf(2)],
  [
    "a founding peer that has the card",
    stateOf(2, { founding: { ...founding, cards: new Map([[1, card(own.publicKey)]]) } }),
  ],
  [
    "a founding peer that has another card",
    stateOf(2, { founding: { ...founding, cards: new Map([[1, card(stranger.publicKey)]]) } }),
  ],
  ["a founding peer that has voted", stateOf(2, vote(own.publicKey))],
  ["a founding peer that has voted for another", stateOf(2, vote(stranger.publicKey))],
  ["a member", stateOf(2, member("a", [[1, own.publicKey]]))],
  ["a member that pinned another key", stateOf(2, member("a", [[1, stranger.publicKey]]))],
  ["a member that knows no such peer", stateOf(2, member("a", []))],
];

/** Each without a session, and in one with the sender or with another member. */
const inSessions = receivers.flatMap(([name, state]) =>
  [undefined, 1, 3].map((session) => [name, state, session] as const),
);

describe.each(messages)("%s", (_, message) => {
  it.each(senders)("from %s is let in by both wires or by neither", (_name, sender) => {
    for (const signer of [own, undefined])
      for (const change of ["none", "forged", "plain"] as const)
        for (const [receiver, state, session] of inSessions) {
          // Without a signature there is nothing to forge but the word that says so.
          if (session !== undefined && signer === undefined && change === "forged") continue;
          const outcomes = [byteWire, valueWire].map((wire) => {
            const packet = wire.seal(sender, signer, () => NONCE, 2, message);
            if (packet === undefined) return "not sent";
            const changed = { none: packet, forged: wire.forge(packet), plain: wire.plain(packet, message) }[change];
            return typeof wire.open(crypto, state, changed, undefined, session) !== "string";
          });
          expect(
            outcomes[1],
            `${receiver}, signed ${signer !== undefined}, changed: ${change}, in a session with ${session}`,
          ).toBe(outcomes[0]);
        }
  });
});
