/**
 * A member that signs a RECEIPT and a REFUSAL of one proposal and shows each to members of its choice: some pledge
 * while others complete the certificate. It also keeps certificates back, so that one that exists comes late or only
 * to a few.
 */
import { absurd } from "effect";
import { isOfModule } from "../../core/protocol/Message.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Lie, Traitor } from "./Traitor.ts";

const LATEST = 40_000;

/** The proposal a statement is about, where the traitor's driver has it prepared, refused or applied. */
const proposalOf = ({ peer }: Traitor, { statement }: SignedStatement): Proposal | undefined =>
  peer.state?.undecided.preparations.get(statement.proposalId)?.proposal ??
  peer.store.get("certificates", statement.proposalId)?.proposal ??
  peer.store.get("refusals", statement.proposalId)?.proposal;

/** The members that are shown a refusal of each proposal, decided when it is first mentioned. */
class Refuser {
  readonly #traitor: Traitor;
  readonly #shown = new Map<Digest, ReadonlySet<PeerId>>();

  constructor(traitor: Traitor) {
    this.#traitor = traitor;
  }

  #shownRefusal(proposal: Proposal): ReadonlySet<PeerId> {
    const traitor = this.#traitor;
    const id = traitor.idOf(proposal);
    const known = this.#shown.get(id);
    if (known !== undefined) return known;
    const unit = traitor.next();
    const shown = new Set(traitor.others.filter((to) => unit.chance(`shows peer ${to} a refusal`, 300)));
    this.#shown.set(id, shown);
    return shown;
  }

  #contradiction(to: PeerId, signed: SignedStatement): SignedStatement {
    const traitor = this.#traitor;
    const { kind } = signed.statement;
    const proposal = proposalOf(traitor, signed);
    if (proposal === undefined || signed.header.peerId !== traitor.peer.peerId) return signed;
    const shown = this.#shownRefusal(proposal);
    if (kind === "RECEIPT" && shown.has(to)) return traitor.state("REFUSAL", proposal, "LOCKED") ?? signed;
    if ((kind === "REFUSAL" || kind === "PLEDGE") && shown.size > 0 && !shown.has(to))
      return traitor.state("RECEIPT", proposal) ?? signed;
    return signed;
  }

  /** Shows a refusal of a proposal just prepared to the members chosen for it. */
  #refuseBeside(proposals: ReadonlyArray<Proposal>): void {
    const traitor = this.#traitor;
    for (const to of traitor.others) {
      const refused = proposals.filter((each) => this.#shownRefusal(each).has(to));
      const statements = refused.flatMap((each) => traitor.state("REFUSAL", each, "LOCKED") ?? []);
      if (statements.length === 0) continue;
      traitor.world.marks.add("a member signed a receipt and a refusal");
      traitor.world.after(traitor.next().between("refuses after", 1_000, 100, LATEST), () => {
        if (!traitor.world.healed) traitor.world.mail.utter(traitor.peer, to, { _tag: "Votes", statements });
      });
    }
  }

  #keepBack(message: Extract<Message, { readonly _tag: "Commit" }>): Message {
    const certificates = message.certificates.filter(
      ({ proposal }) => this.#shownRefusal(proposal).size === 0 || !this.#traitor.next().chance("keeps back", 700),
    );
    return { ...message, certificates };
  }

  says(to: PeerId, message: Message): Message {
    if (isOfModule(message)) return message;
    const contradicted = (statements: ReadonlyArray<SignedStatement>) =>
      statements.map((each) => this.#contradiction(to, each));
    switch (message._tag) {
      case "Prepare":
        this.#refuseBeside(message.items.map((item) => item.proposal));
        return message;
      case "Votes":
        if (message.statements.some(({ statement }) => statement.kind === "RECEIPT"))
          this.#refuseBeside(message.statements.flatMap((each) => proposalOf(this.#traitor, each) ?? []));
        return { ...message, statements: contradicted(message.statements) };
      case "SettleAnswer":
        return { ...message, items: message.items.map((item) => ({ ...item, held: contradicted(item.held) })) };
      case "Commit":
        return this.#keepBack(message);
      case "GenesisCard":
      case "GenesisVote":
      case "GenesisPinned":
      case "GenesisRefused":
      case "ReadyProbe":
      case "Ready":
      case "Forward":
      case "Forwarded":
      case "Outcome":
      case "CommitAcks":
      case "SettleQuery":
      case "AbortRequest":
      case "SnapshotRequest":
      case "SnapshotOffer":
      case "StoredQuery":
      case "StoredAnswer":
        return message;
      default:
        return absurd(message);
    }
  }
}

/** Makes a lie with a memory: of which members have been shown what. */
export const equivocatingRefuser = (): Lie => {
  let refuser: Refuser | undefined;
  return (traitor, to, message) => {
    refuser ??= new Refuser(traitor);
    return [refuser.says(to, message)];
  };
};
