/**
 * Messages as a lying member would send them: a real one with one thing changed. No peer can be made to believe
 * them, because everything that counts is signed by its owner; a false answer to a question may at worst delay.
 */
import { absurd } from "effect";
import { isOfModule } from "../../core/protocol/Message.ts";
import { type Offered, offers } from "../../core/commands/enrollPasskey/SessionMessages.ts";
import type { Digest, Signature } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { Outcome } from "../../core/protocol/Message.ts";
import { BATCH_TAG, batchHeaderCodec, batchTree, type SignedStatement } from "../../core/protocol/Statement.ts";
import type { Unit } from "../base/Choices.ts";
import type { World } from "../world/World.ts";

/** No message holds more. */
const MOST_STATEMENTS = 65_535;
const FOREIGN = "f".repeat(64) as Digest;

/** The same vote for another topology, really signed by its member: a replay from a cluster with the same keys. */
const foreignVote = (world: World, signed: SignedStatement): SignedStatement => {
  const statement = { ...signed.statement, topologyDigest: FOREIGN };
  const { root } = batchTree(world.cryptography.crypto, [statement]);
  const header = { ...signed.header, size: 1, root };
  const { identity } = world.peer(signed.header.peerId).keys;
  return { statement, index: 0, proof: [], header, signature: identity.sign(BATCH_TAG, batchHeaderCodec, header) };
};

const alteredStatement = (world: World, unit: Unit, signed: SignedStatement): SignedStatement => {
  const { statement, header } = signed;
  switch (unit.between("how", 0, 0, 8)) {
    case 0:
      world.marks.add("a vote for another topology was sent");
      return foreignVote(world, signed);
    case 1:
      world.marks.add("a vote with a false path to its root was sent");
      return { ...signed, proof: [...signed.proof, FOREIGN] };
    case 2:
      return { ...signed, index: signed.index + 1 };
    case 3:
      return { ...signed, statement: { ...statement, proposalId: FOREIGN } };
    case 4:
      return { ...signed, statement: { ...statement, kind: statement.kind === "RECEIPT" ? "REFUSAL" : "RECEIPT" } };
    case 5:
      return { ...signed, header: { ...header, peerId: (header.peerId % world.plan.peers) + 1 } };
    case 6:
      return { ...signed, header: { ...header, batchNo: header.batchNo + 1_000 } };
    case 7:
      return { ...signed, statement: { ...statement, seq: statement.seq + 1 } };
    default:
      return { ...signed, signature: "0".repeat(128) as Signature };
  }
};

const alteredOne = (
  world: World,
  unit: Unit,
  statements: ReadonlyArray<SignedStatement>,
): ReadonlyArray<SignedStatement> => {
  const at = unit.between("statement", 0, 0, Math.max(0, statements.length - 1), 0, MOST_STATEMENTS);
  return statements.map((each, index) => (index === at ? alteredStatement(world, unit, each) : each));
};

const withoutOne = <A>(unit: Unit, all: ReadonlyArray<A>): ReadonlyArray<A> =>
  all.toSpliced(unit.between("left out", 0, 0, Math.max(0, all.length - 1), 0, MOST_STATEMENTS), 1);

/** A success with one thing of its proof changed; undefined where there is nothing to prove. */
export const alteredOutcome = (world: World, unit: Unit, outcome: Outcome): Outcome | undefined => {
  switch (outcome._tag) {
    case "Rejected":
    case "Existing":
      return undefined;
    case "Confirmed":
      return alteredProof(world, unit, outcome, () => anotherChange(world, unit, outcome));
    case "Exchanged": {
      const offered = offers.decode(outcome.answer);
      if (offered === undefined) return undefined;
      const altered = alteredProof(world, unit, offered, () => anotherSession(unit, offered));
      return { ...outcome, answer: offers.encode(altered) };
    }
    default:
      return absurd(outcome);
  }
};

/** Fewer acknowledgements, others, or for another subject than what was acknowledged. */
const alteredProof = <P extends { readonly acks: ReadonlyArray<SignedStatement> }>(
  world: World,
  unit: Unit,
  proven: P,
  another: () => P,
): P => {
  switch (unit.between("what", 0, 0, 3)) {
    case 0:
      return { ...proven, acks: withoutOne(unit, proven.acks) };
    case 1:
      return { ...proven, acks: alteredOne(world, unit, proven.acks) };
    case 2:
      return { ...proven, acks: proven.acks.map((each) => proven.acks[0] ?? each) };
    default:
      return another();
  }
};

const anotherSession = (unit: Unit, offered: Offered): Offered =>
  unit.chance("another secret", 500)
    ? { ...offered, invitation: offered.invitation.map((byte) => byte ^ 1) }
    : { ...offered, session: { ...offered.session, expiresAt: offered.session.expiresAt + 1 } };

type Confirmed = Extract<Outcome, { readonly _tag: "Confirmed" }>;

const anotherChange = (world: World, unit: Unit, outcome: Confirmed): Confirmed => {
  const { certificate } = outcome;
  const { proposal } = certificate;
  return unit.chance("another receipt", 500)
    ? { ...outcome, certificate: { ...certificate, receipts: alteredOne(world, unit, certificate.receipts) } }
    : { ...outcome, certificate: { ...certificate, proposal: { ...proposal, proposedAt: proposal.proposedAt + 1 } } };
};

/** The message with one thing changed; undefined where nothing in it is worth changing. */
export const alteredMessage = (world: World, unit: Unit, message: Message): Message | undefined => {
  if (isOfModule(message)) return undefined;
  switch (message._tag) {
    case "Votes":
    case "CommitAcks":
      return { ...message, statements: alteredOne(world, unit, message.statements) };
    case "Commit": {
      const [first, ...rest] = message.certificates;
      if (first === undefined) return undefined;
      const isShort = unit.chance("a receipt is left out", 300);
      const receipts = isShort ? first.receipts.slice(1) : alteredOne(world, unit, first.receipts);
      const doubled = unit.chance("one receipt counts for all", 300)
        ? receipts.map(() => first.receipts[0] ?? receipts[0])
        : receipts;
      const whole = doubled.flatMap((each) => each ?? []);
      return { ...message, certificates: [{ ...first, receipts: whole }, ...rest] };
    }
    case "Prepare": {
      const [first, ...rest] = message.items;
      if (first === undefined) return undefined;
      const { proposal } = first;
      const changed = unit.chance("another id", 500)
        ? world.product.changing(proposal.kind).lies[0](proposal)
        : { ...proposal, seq: proposal.seq + 1 };
      return { ...message, items: [{ ...first, proposal: changed }, ...rest] };
    }
    case "Ready":
      return { ...message, highSeq: message.highSeq + 1_000, batchNo: message.batchNo + 1_000 };
    case "SettleAnswer":
      return {
        ...message,
        items: message.items.map((item) => ({
          ...item,
          state: "APPLIED" as const,
          held: alteredOne(world, unit, item.held),
        })),
      };
    case "AbortRequest":
      return {
        ...message,
        items: message.items.map((item) => ({ ...item, votes: alteredOne(world, unit, item.votes) })),
      };
    case "SettleQuery":
      return { ...message, demandFinal: !message.demandFinal };
    case "Outcome": {
      const outcome = alteredOutcome(world, unit, message.outcome);
      return outcome && { ...message, outcome };
    }
    case "GenesisVote":
      return { ...message, signature: "0".repeat(128) as Signature };
    case "GenesisCard":
      return { ...message, mac: FOREIGN };
    case "GenesisPinned":
    case "GenesisRefused":
    case "ReadyProbe":
    case "Forward":
    case "Forwarded":
    case "SnapshotRequest":
    case "SnapshotOffer":
    case "StoredQuery":
    case "StoredAnswer":
      return undefined;
    default:
      return absurd(message);
  }
};
