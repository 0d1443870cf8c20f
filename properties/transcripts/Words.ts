/** Messages, statements and answers in the words of a transcript: the few fields that tell the story. */
import type { Answer } from "../../core/Action.ts";
import { effectsOf, keyEffectsOf } from "../../core/commands/Effects.ts";
import type { Session } from "../../core/commands/enrollPasskey/Session.ts";
import { offers } from "../../core/commands/enrollPasskey/SessionMessages.ts";
import { sessionDigest } from "../../core/commands/enrollPasskey/Session.ts";
import type { Message, MessageOf } from "../../core/Message.ts";
import { type Proposal, proposalId } from "../../core/protocol/Proposal.ts";
import type { SignedRestoration } from "../../core/protocol/Restoration.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import { crypto } from "../cluster/Crypto.ts";
import type { Names } from "./Names.ts";

const slotOf = (key: string): number => Number(key.split(".").at(-1));

export class Words {
  readonly #names: Names;

  constructor(names: Names) {
    this.#names = names;
  }

  proposal(proposal: Proposal): string {
    return this.#names.of("p", proposalId(crypto, proposal));
  }

  /** A proposal as it is introduced. */
  introduced(proposal: Proposal): string {
    const name = this.proposal(proposal);
    const made = keyEffectsOf(proposal)?.generation;
    if (made !== undefined)
      return `${name} (${proposal.kind} ${made.keyId} generation ${made.generation}, slot ${proposal.seq})`;
    const effects = effectsOf(proposal);
    const { ref, revision } = effects?.approver ?? { ref: "what nobody can read", revision: 0 };
    return `${name} (${proposal.kind} ${this.#names.approver(ref)} revision ${revision}, slot ${proposal.seq})`;
  }

  session(session: Session): string {
    const name = this.#names.of("s", session.registrationId);
    this.#names.alias(sessionDigest(crypto, session), name);
    return name;
  }

  /** Statements that say the same of the same are told together. */
  statements(statements: ReadonlyArray<SignedStatement>): string {
    const said = new Map<string, Array<string>>();
    for (const { statement, header } of statements) {
      const { kind, proposalId: id, detail } = statement;
      const about = this.#names.of(kind.startsWith("Session.") ? "s" : "p", id);
      const what = `${kind} ${about}${detail === "" ? "" : ` (${detail})`}`;
      const by = `${header.peerId}${this.#names.incarnation(header.peerId, header.incarnation)}`;
      said.set(what, [...(said.get(what) ?? []), by]);
    }
    return [...said].map(([what, by]) => `${what} by ${by.join(", ")}`).join("; ");
  }

  message(message: Message): string {
    const told = this.#content(message);
    return told === "" ? message._tag : `${message._tag} ${told}`;
  }

  #content(message: Message): string {
    switch (message._tag) {
      case "ReadyProbe":
        return this.#announced(message.restored);
      case "Ready":
        return [
          message.sealed ? "sealed" : message.mode,
          ...(message.integrityOk ? [] : ["damaged"]),
          this.#announced(message.restored),
        ]
          .join(" ")
          .trim();
      case "GenesisRefused":
        return message.reason;
      case "Forward":
        return message.forward.requestId;
      case "Forwarded":
        return message.requestId;
      case "Outcome":
        return `${message.requestId}: ${this.#outcome(message)}`;
      case "Prepare":
        return message.items
          .map((item) => `${this.introduced(item.proposal)}, ${this.statements([item.receipt])}`)
          .join("; ");
      case "Votes":
      case "CommitAcks":
        return this.statements(message.statements);
      case "Commit":
        return this.statements([...message.certificates.flatMap(({ receipts }) => receipts), ...message.acks]);
      case "SettleQuery":
        return (
          message.items.map(({ proposal }) => this.proposal(proposal)).join(", ") +
          (message.demandFinal ? ", for good" : "")
        );
      case "SettleAnswer":
        return message.items
          .map(({ proposalId: id, state, held }) =>
            [`${this.#names.of("p", id)} is ${state}`, ...(held.length === 0 ? [] : [this.statements(held)])].join(
              ": ",
            ),
          )
          .join("; ");
      case "AbortRequest":
        return message.items
          .map(({ proposal, votes }) => `${this.proposal(proposal)}: ${this.statements(votes)}`)
          .join("; ");
      case "StoredQuery":
        return `${message.requestId}: ${this.#names.approver(message.ref)}`;
      case "StoredAnswer":
        return `${message.requestId}: ${this.#names.approver(message.ref)} revision ${message.revision}`;
      case "Sign.Open":
        return `${this.#names.of("n", message.sessionId)} (generation ${message.generation})`;
      case "Sign.Commit":
        return this.#names.of("n", message.sessionId);
      case "Sign.Refused":
        return `${this.#names.of("n", message.sessionId)}: ${message.code}`;
      case "Sign.Package":
        return message.items
          .map(({ sessionId, commitments }) => {
            const signers = commitments.map(({ index }) => index).join(", ");
            return `${this.#names.of("n", sessionId)} by shares ${signers}`;
          })
          .join("; ");
      case "Sign.Share":
        return message.items.map(({ sessionId }) => this.#names.of("n", sessionId)).join("; ");
      case "Repair.Open":
      case "Repair.Key":
      case "Repair.Part":
      case "Repair.Sum":
        return this.#names.of("n", message.sessionId);
      case "Repair.Refused":
        return `${this.#names.of("n", message.sessionId)}: ${message.code}`;
      case "SnapshotRequest":
        return `after slot ${slotOf(message.after)}`;
      case "SnapshotOffer":
        return this.#offer(message);
      case "Session.Mirror":
        return message.items.map(({ session }) => `${this.session(session)} (${session.id})`).join(", ");
      case "Session.Votes":
        return [
          ...(message.acks.length === 0 ? [] : [this.statements(message.acks)]),
          ...message.refusals.map(({ sessionDigest: id, code }) => `no to ${this.#names.of("s", id)} (${code})`),
        ].join("; ");
      case "Keygen.Open":
        return `${message.evidence.requestId} as ${this.#names.of("s", message.sessionId)}`;
      case "Keygen.Package":
      case "Keygen.Share":
      case "Keygen.Stored":
        return this.#names.of("s", message.sessionId);
      case "Keygen.Ended":
        return `${this.#names.of("s", message.sessionId)} (${message.code})`;
      case "Promotion.Standing":
        return message.fault ?? "it would accept";
      case "Promotion.Refused":
        return message.fault;
      case "Promotion.Ask":
      case "Promotion.Draft":
      case "Promotion.Accepted":
      case "Promotion.Decided":
      case "Promotion.Installed":
      case "GenesisCard":
      case "GenesisVote":
      case "GenesisPinned":
        return "";
    }
  }

  #announced(restored: SignedRestoration | undefined): string {
    if (restored === undefined) return "";
    const { peerId, incarnation } = restored.restoration;
    return `(${peerId} announces itself${this.#names.incarnation(peerId, incarnation)})`;
  }

  #outcome({ outcome }: MessageOf<"Outcome">): string {
    switch (outcome._tag) {
      case "Confirmed":
        return `Confirmed by ${this.statements(outcome.acks)}`;
      case "Existing":
        return `Existing ${this.#names.approver(outcome.ref)}`;
      case "Rejected":
        return this.answer(outcome);
      case "Exchanged": {
        const offered = offers.decode(outcome.answer);
        return offered === undefined
          ? "Exchanged"
          : `${this.session(offered.session)} offered, ${this.statements(offered.acks)}`;
      }
    }
  }

  #offer({ items, cutoff, upTo, alike, own }: MessageOf<"SnapshotOffer">): string {
    const slots = items.map(
      ({ key, proposalId: id, certificate }) =>
        `slot ${slotOf(key)} ${certificate === undefined ? "aborted" : "applied"} ${this.#names.of("p", id)}`,
    );
    const whole = `${cutoff.count} approvers${upTo === undefined ? ", no more" : ""}${own === undefined ? "" : ", itself restored"}`;
    const same = alike === undefined || upTo === undefined ? [] : [`all alike to slot ${slotOf(upTo)}`];
    return [...slots, ...same, whole].join(", ");
  }

  answer(answer: Answer): string {
    switch (answer._tag) {
      case "Registered": {
        const { ref, revision } = answer.approver;
        return `${answer.created ? "created" : "there before:"} ${this.#names.approver(ref)} revision ${revision}`;
      }
      case "Replaced":
        return `replaced ${this.#names.approver(answer.approver.ref)} revision ${answer.approver.revision}`;
      case "KeyMade":
        return `${answer.created ? "created" : "there before:"} ${answer.key.keyId} generation ${answer.key.generation}`;
      case "KeyDestroyed":
        return `destroyed ${answer.key.keyId} generation ${answer.generation.generation}`;
      case "Offered":
        return `offered ${this.#names.of("s", this.#registrationId(answer.offer.registrationId))}`;
      case "Rejected": {
        const { code, members, outcomeUnknown } = answer.rejection;
        const why = members.map(({ peerId, reason }) => `${peerId}: ${reason}`).join("; ");
        return `${code}${outcomeUnknown ? ", outcome unknown" : ""}${why === "" ? "" : ` (${why})`}`;
      }
      default:
        return answer._tag;
    }
  }

  #registrationId(base64Url: string): string {
    return Buffer.from(base64Url, "base64url").toString("hex");
  }
}
