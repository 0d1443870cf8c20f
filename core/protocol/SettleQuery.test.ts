/** A member's answer about the outcome of a proposal, and how a restored member uses such answers. */
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { type Cluster, crypto, founded, whole } from "../../properties/cluster/Cluster.ts";
import { forgedBy, receiptOfWriter } from "../../properties/cluster/Forging.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { refusedBy } from "../../properties/cluster/Refused.ts";
import { declare, stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { decode } from "../codec/CborReader.ts";
import { encode } from "../codec/CborWriter.ts";
import type { Digest } from "../base/Digest.ts";
import { CAPACITIES } from "../base/Capacities.ts";
import { Limits } from "../base/Limits.ts";
import { type Message, messageCodec, type MessageOf } from "../Message.ts";
import { type SettleItem } from "./Message.ts";
import { proposalId } from "./Proposal.ts";
import { onSettleQuery } from "./Settlement.ts";
import { signerOf, type SignedStatement } from "./Statement.ts";

const NONCE = "ab".repeat(32) as Digest;

/** Asks peer 2 in the writer's name about one proposal; returns what it says and shows of it. */
const answerOf = (cluster: Cluster, item: SettleItem, demandFinal = false) => {
  const answers: Array<MessageOf<"SettleAnswer">["items"][number]> = [];
  cluster.tamper = (from, _to, message): Message | undefined => {
    if (from === 2 && message._tag === "SettleAnswer" && message.nonce === NONCE) answers.push(...message.items);
    return undefined;
  };
  const message: Message = { _tag: "SettleQuery", items: [item], demandFinal, nonce: NONCE };
  cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [] });
  cluster.settle();
  return answers.map(({ state, held }) => [
    state,
    ...held.map((signed) => `${signed.statement.kind} by ${signerOf(signed)}`),
  ]);
};

const asked = ({ cluster, preparation }: ReturnType<typeof prepared>) => ({
  cluster,
  item: { proposal: preparation.proposal, receipt: preparation.writerReceipt },
});

/** Peer 2 was kept out of the writer's round. */
const unknown = () => {
  const cluster = founded();
  const items: Array<SettleItem> = [];
  cluster.tamper = (_from, to, message) => {
    if (message._tag === "Prepare") items.push(...message.items);
    return message._tag === "Prepare" && to === 2 ? undefined : message;
  };
  cluster.register(1, "request", "alice", 7);
  cluster.settle();
  const [item] = items;
  if (item === undefined) throw new Error("nothing was proposed");
  return { cluster, item };
};

const refused = (refuser: number, drop: (message: Message) => boolean) => {
  const items: Array<SettleItem> = [];
  const cluster = refusedBy(refuser, (_from, _to, message) => {
    if (message._tag === "Prepare") items.push(...message.items);
    return drop(message);
  });
  const [item] = items;
  if (item === undefined) throw new Error("nothing was proposed");
  return { cluster, item };
};

const pledged = () => {
  const made = prepared();
  const refusal = forgedBy(made.cluster, 3, made.preparation.own, { kind: "REFUSAL", detail: "EXPIRED" });
  const message: Message = { _tag: "Votes", statements: [refusal] };
  made.cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 3, message, actors: [] });
  return asked(made);
};

const applied = () => {
  const made = prepared();
  made.cluster.tamper = whole;
  made.cluster.pass(3_000);
  return asked(made);
};

/** Peer 2 was started again, has heard of nobody, and applies a certificate that it is shown. */
const appliedWhileJoining = () => {
  const made = prepared();
  const { cluster, preparation } = made;
  const { proposal, writerReceipt, own } = preparation;
  cluster.tamper = () => undefined;
  cluster.peers.get(2)?.stop();
  cluster.start(2);
  const certificate = { proposal, receipts: [writerReceipt, own, forgedBy(cluster, 3, own, {})] };
  const message: Message = { _tag: "Commit", certificates: [certificate], acks: [], stableSeq: 0 };
  cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [] });
  return asked(made);
};

/** Peer 2 has applied it, was restored, and has not taken over the registry of the others yet. */
const appliedBeforeRestore = () => {
  const made = applied();
  made.cluster.tamper = (_from, _to, message) => (message._tag === "SnapshotOffer" ? undefined : message);
  declare(made.cluster, 2);
  made.cluster.pass(3_000);
  expect(stateOf(made.cluster, 2).rejoining.unproven.size).toBe(0);
  return made;
};

describe("who is asked what became of a proposal", () => {
  it.each<readonly [string, () => ReturnType<typeof unknown>, ReadonlyArray<string>]>([
    ["that it has prepared", () => asked(prepared()), ["PREPARED", "RECEIPT by 1", "RECEIPT by 2"]],
    [
      "that it has pledged to give up",
      pledged,
      ["PLEDGED", "RECEIPT by 1", "RECEIPT by 2", "REFUSAL by 3", "PLEDGE by 2"],
    ],
    ["that it has refused", () => refused(2, ({ _tag }) => _tag === "AbortRequest"), ["REFUSED", "REFUSAL by 2"]],
    ["that it has applied", applied, ["APPLIED", "COMMIT_ACK by 2"]],
    ["that it has aborted", () => refused(3, () => false), ["ABORTED", "ABORT_ACK by 2"]],
    ["that it has applied and may not acknowledge yet", appliedWhileJoining, ["APPLIED"]],
    ["that it had applied in an incarnation that is over", appliedBeforeRestore, ["UNKNOWN"]],
    ["that it knows nothing of", unknown, ["UNKNOWN"]],
  ])("shows all it has on one %s", (_which, make, answer) => {
    const { cluster, item } = make();
    expect(answerOf(cluster, item)).toEqual([answer]);
  });

  it("says and signs nothing of what comes without its writer's receipt", () => {
    const known = prepared();
    const { proposal, own } = known.preparation;
    expect(answerOf(known.cluster, { proposal, receipt: own })).toEqual([["UNKNOWN"]]);
    const { cluster, item } = unknown();
    const receipt = forgedBy(cluster, 3, item.receipt, {});
    expect(answerOf(cluster, { ...item, receipt }, true)).toEqual([["UNKNOWN"]]);
    expect(answerOf(cluster, item, true)).toEqual([["REFUSED", "REFUSAL by 2"]]);
  });
});

describe("who is asked about as much as may be asked at once", () => {
  it("answers all of it where every one of 64 members has voted on all, in messages that can be read", () => {
    const { cluster, preparation } = prepared();
    const step = openStep(cluster, 2);
    const ofAll = (signed: SignedStatement): ReadonlyMap<number, SignedStatement> =>
      new Map(Array.from({ length: Limits.members }, (_, index) => [index + 1, signed]));
    const items = Array.from({ length: CAPACITIES.proposalsPerMessage }, (_, index): SettleItem => {
      const proposal = { ...preparation.proposal, seq: index + 1 };
      const receipt = receiptOfWriter(cluster, proposal, preparation.writerReceipt);
      const id = proposalId(crypto, proposal);
      const votes = ofAll({ ...receipt, statement: { ...receipt.statement, kind: "PLEDGE" } });
      step.edit("undecided", "preparations").set(id, { ...preparation, id, proposal, receipts: ofAll(receipt), votes });
      return { proposal, receipt };
    });
    onSettleQuery(step, 1, { _tag: "SettleQuery", items, demandFinal: false, nonce: NONCE });
    const { thenSend } = step.finish(() => undefined);
    const answers = thenSend.flatMap((action) => {
      if (action._tag !== "Send") return [];
      const message = Either.getOrThrow(decode(messageCodec, encode(messageCodec, action.message)));
      return message._tag === "SettleAnswer" ? [message] : [];
    });
    expect(answers.map(({ nonce }) => nonce)).toEqual([NONCE, NONCE]);
    expect(answers.flatMap((answer) => answer.items.map((each) => each.proposalId))).toEqual(
      items.map(({ proposal }) => proposalId(crypto, proposal)),
    );
    for (const each of answers.flatMap((answer) => answer.items)) expect(each.held).toHaveLength(2 * Limits.members);
  });
});

describe("a restored member that all others have told that they have not applied it", () => {
  /** Peer 2 was restored and has asked; the answers, and how to bring them to it. */
  const answered = () => {
    const { cluster } = unknown();
    const answers: Array<readonly [from: number, message: Message]> = [];
    cluster.tamper = (from, to, message) => {
      if (message._tag === "SettleAnswer" && to === 2) answers.push([from, message]);
      return message._tag === "SettleAnswer" || message._tag === "SnapshotOffer" ? undefined : message;
    };
    declare(cluster, 2);
    cluster.pass(3_000);
    const told: Array<number> = [];
    const bring = (): void => {
      cluster.tamper = (from, to, message) => {
        if (from === 2 && message._tag === "Votes") told.push(to);
        return undefined;
      };
      for (const [from, message] of answers)
        cluster.peers.get(2)?.dispatch({ _tag: "Deliver", from, message, actors: [] });
      cluster.settle();
    };
    const refusals = (): number => cluster.tables.get(2)?.get("refusals")?.size ?? 0;
    expect(stateOf(cluster, 2).rejoining.recovery?.inquiries.size).toBe(1);
    return { cluster, bring, told, refusals };
  };

  it("refuses it, and tells all of them", () => {
    const { bring, told, refusals } = answered();
    bring();
    expect(told).toEqual([1, 3]);
    expect(refusals()).toBe(1);
  });

  it("signs nothing where it was sealed meanwhile", () => {
    const { cluster, bring, told, refusals } = answered();
    cluster.peers.get(2)?.dispatch({ _tag: "Sealed" });
    bring();
    expect([told, refusals()]).toEqual([[], 0]);
  });

  it("refuses nothing past the room that it has", () => {
    const { cluster, bring, told, refusals } = answered();
    const [other] = stateOf(refused(2, ({ _tag }) => _tag === "AbortRequest").cluster, 2).undecided.refused.values();
    const {
      undecided: { refused: here },
    } = stateOf(cluster, 2);
    if (other === undefined || !(here instanceof Map)) throw new Error("it keeps what it has refused in a map");
    for (let at = 0; at < CAPACITIES.refusals + CAPACITIES.preparations; at += 1)
      here.set(crypto.sha256(Uint8Array.of(at & 255, at >> 8)), other);
    bring();
    expect([told, refusals()]).toEqual([[], 0]);
  });
});
