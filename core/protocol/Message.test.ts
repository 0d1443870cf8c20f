/** The fullest possible messages, in a cluster of the most members: each can be sent, and is read again. */
import { Either } from "effect";
import { expect, it } from "vitest";
import { NOW } from "../../properties/cluster/Cluster.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { decode } from "../codec/CborReader.ts";
import { CborSource } from "../codec/CborSource.ts";
import { encode } from "../codec/CborWriter.ts";
import { NEWEST } from "../codec/Versioned.ts";
import type { Digest } from "../base/Digest.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import { commands } from "../commands/Commands.ts";
import { type Message, messagesIn } from "../Message.ts";
import type { Session } from "../commands/enrollPasskey/Session.ts";
import type { Forward } from "./Forward.ts";
import { type AbortItem } from "./Message.ts";
import type { Proposal } from "./Proposal.ts";
import type { SignedStatement } from "./Statement.ts";

const each = <A>(count: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => make(index));

const { preparation } = prepared();
const digest = "ab".repeat(32) as Digest;
const statement: SignedStatement = { ...preparation.own, proof: each(16, () => digest) };
const ofMembers = each(Limits.members, () => statement);
const incarnations = each(Limits.members, () => NOW);
const longest = {
  actor: {
    iss: "i".repeat(Limits.issuerBytes),
    sub: "s".repeat(Limits.subjectBytes),
    jti: "t".repeat(Limits.tokenIdBytes),
  },
  path: "/".repeat(2048),
  requestId: "r".repeat(Limits.requestIdCharacters),
};
const proposal: Proposal = {
  ...preparation.proposal,
  effects: new Uint8Array(Limits.effectsBytes),
  actor: longest.actor,
  request: { ...preparation.proposal.request, path: longest.path },
  requestId: longest.requestId,
  incarnations,
};
const certificate = { proposal, receipts: ofMembers };
const batch = <A>(item: A): ReadonlyArray<A> => each(CAPACITIES.proposalsPerMessage, () => item);
const item: AbortItem = { proposal, receipt: statement, votes: ofMembers };
/** As many bytes of bodies as may be, in as many requests. */
const evidence: Forward = {
  version: NEWEST,
  requestId: longest.requestId,
  entryPeer: 2,
  call: {
    method: "POST",
    path: longest.path,
    ifMatch: "i".repeat(Limits.ifMatchBytes),
    rawBody: new Uint8Array(CAPACITIES.evidenceBytes / CAPACITIES.proposalsPerMessage),
  },
  token: "t".repeat(16 * 1024),
  receivedAt: NOW,
  arrival: { process: digest, at: NOW },
  attestation: statement.signature,
};
const session: Session = {
  version: NEWEST,
  clusterId: digest,
  epoch: 1,
  topologyDigest: digest,
  configDigest: digest,
  writer: 1,
  registrationId: digest,
  id: "i".repeat(Limits.approverIdCharacters),
  metadata: each(Limits.metadataPairs, (index) => [
    `${index}`.padEnd(Limits.metadataKeyBytes, "k"),
    "v".repeat(Limits.metadataTotalBytes / Limits.metadataPairs),
  ]),
  rpId: "d".repeat(253),
  origins: each(64, () => "o".repeat(512)),
  algorithm: "ES256",
  challenge: new Uint8Array(Limits.challengeBytes),
  userHandle: new Uint8Array(Limits.challengeBytes),
  registrar: longest.actor,
  request: proposal.request,
  requestId: longest.requestId,
  entryPeer: 2,
  createdAt: NOW,
  expiresAt: NOW,
  incarnations,
};
const held = each(2 * Limits.members, () => statement);
const fullAnswers = each(CAPACITIES.heldStatements / held.length, () => ({
  proposalId: digest,
  state: "PLEDGED" as const,
  held,
}));

it.each<Message>([
  { _tag: "Commit", certificates: batch(certificate), acks: batch(statement), stableSeq: 1 },
  { _tag: "Prepare", items: batch({ proposal, receipt: statement, evidence }), stableSeq: 1 },
  { _tag: "Session.Mirror", items: batch({ session, evidence }) },
  { _tag: "AbortRequest", items: batch(item) },
  { _tag: "SettleQuery", items: batch({ proposal, receipt: statement }), demandFinal: true, nonce: digest },
  { _tag: "SettleAnswer", nonce: digest, items: fullAnswers },
  {
    _tag: "SnapshotOffer",
    recoveryId: digest,
    nonce: digest,
    after: "",
    cutoff: { topologyDigest: digest, root: digest, count: 1 },
    items: batch({ key: "1", proposalId: digest, certificate, writerReceipt: undefined }),
    upTo: "1",
    alike: undefined,
    own: {
      recoveryId: digest,
      incarnations: ofMembers.map((_, index) => index),
      refused: each(CAPACITIES.preparations + CAPACITIES.refusals, () => digest),
      strays: each(CAPACITIES.refusals, () => digest),
    },
  },
  {
    _tag: "Outcome",
    requestId: "request",
    outcome: { _tag: "Confirmed", certificate, acks: ofMembers },
  },
])("a full $_tag of 64 members is read by whoever gets it", (message) => {
  // In the oldest version nothing is referred to, as if all of it were different.
  for (const version of [commands.versions.lowest, NEWEST]) {
    const codec = messagesIn(commands, version);
    const bytes = encode(codec, message);
    expect(bytes.length).toBeLessThan(Limits.envelopeBytes);
    // Of so many bytes an encoding is compared a hundred times as fast as what it is of.
    expect(Buffer.compare(encode(codec, Either.getOrThrow(decode(codec, bytes))), bytes)).toBe(0);
    // Room remains for future fields, at which older readers would stop.
    const source = new CborSource(bytes, Limits.cborItems * 0.6, 0, NEWEST);
    expect(() => codec.read(source)).not.toThrow();
  }
});
