/** The fullest possible messages, in a cluster of the most members: all that is written is read again. */
import { Either } from "effect";
import { expect, it } from "vitest";
import { altered, asFinish } from "../../properties/cluster/AlteredEffects.ts";
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
import { type AbortItem } from "./Message.ts";
import type { Proposal } from "./Proposal.ts";
import type { SignedStatement } from "./Statement.ts";

const each = <A>(count: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => make(index));

const { preparation } = prepared();
const digest = "ab".repeat(32) as Digest;
const statement: SignedStatement = { ...preparation.own, proof: each(16, () => digest) };
const ofMembers = each(Limits.members, () => statement);
const metadata = each(Limits.metadataPairs, (index) => [`key-${index}`, "v"] as const);
const observations = {
  signCount: 1,
  backupState: true,
  transports: each(Limits.transports, (index) => `transport-${index}`),
  aaguid: "0".repeat(22),
};
const response = { registrationId: digest, responseDigest: digest };
const proposal: Proposal = {
  ...asFinish(altered(preparation.proposal, { metadata }), response, { observations }),
  incarnations: each(Limits.members, () => 1_800_000_000_000),
};
const certificate = { proposal, receipts: ofMembers };
const batch = <A>(item: A): ReadonlyArray<A> => each(CAPACITIES.proposalsPerMessage, () => item);
const item: AbortItem = { proposal, receipt: statement, votes: ofMembers };
const held = each(2 * Limits.members, () => statement);
const fullAnswers = each(CAPACITIES.heldStatements / held.length, () => ({
  proposalId: digest,
  state: "PLEDGED" as const,
  held,
}));

it.each<Message>([
  { _tag: "Commit", certificates: batch(certificate), acks: batch(statement), stableSeq: 1 },
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
    expect(Either.getOrThrow(decode(codec, bytes))).toEqual(message);
    // Room remains for future fields, at which older readers would stop.
    const source = new CborSource(bytes, Limits.cborItems * 0.6, 0, NEWEST);
    expect(() => codec.read(source)).not.toThrow();
  }
});
