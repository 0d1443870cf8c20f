/**
 * A member that may lie in any field of any message: in what it asks, answers, passes on and claims to have heard, to
 * one member and not to another. It also says again what it has heard others say, as if it were its own. Some lie in
 * every kind of message, some in a few; and some believe whatever a token's bearer asks for.
 */
import { attest, type Forward } from "../../core/protocol/Forward.ts";
import type { Certificate } from "../../core/protocol/Certificate.ts";
import type { Message } from "../../core/Message.ts";
import { isOfModule, type SettleItem } from "../../core/protocol/Message.ts";
import type { SignedRestoration } from "../../core/protocol/Restoration.ts";
import type { SignedHeader, SignedStatement } from "../../core/protocol/Statement.ts";
import type { PeerId, PinnedTopology } from "../../core/protocol/Topology.ts";
import type { Unit } from "../base/Choices.ts";
import { DoubleLife } from "./DoubleLife.ts";
import { hastyAnswers } from "./FalsifyingWriter.ts";
import { falsified, type Sign } from "./Falsified.ts";
import { type Fields, Hearsay } from "./Hearsay.ts";
import { type Decided, decidedAnew, pinnedAnew } from "./Twins.ts";
import { Slander } from "./Slander.ts";
import type { Lie, Mishear, Traitor } from "./Traitor.ts";

/** How often it lies in messages of one kind, in a thousand. */
const RATES: readonly [number, ...ReadonlyArray<number>] = [0, 0, 50, 150, 400];

/** Records are told apart by their fields: the codecs of messages have no two alike. */
const has = (fields: Fields, ...names: ReadonlyArray<string>): boolean => names.every((name) => name in fields);

const signerIn = (fields: Fields): number => (fields as unknown as SignedStatement).header.peerId;

const signedAnew =
  (traitor: Traitor, unit: Unit): Sign =>
  (before, after) => {
    const { peer } = traitor;
    // Whoever knows a header by its root has to look at all that was signed.
    const isForged = has(after, "header", "signature") && before["header"] !== after["header"];
    if (isForged && unit.chance("keeps the signature of another header", 150)) return after;
    if (has(after, "statement", "header", "signature")) {
      const isOwn = signerIn(before) === peer.peerId || signerIn(after) === peer.peerId;
      if (!isOwn && !unit.chance("signs for another", 300)) return after;
      return { ...traitor.signAnew(before as unknown as SignedStatement, after as unknown as SignedStatement) };
    }
    if (has(after, "header", "signature") && before["header"] !== after["header"])
      return { ...traitor.signHeader(after as unknown as SignedHeader) };
    if (has(after, "restoration", "signature") && before["restoration"] !== after["restoration"])
      return { ...traitor.announce(after as unknown as SignedRestoration) };
    if (has(after, "draft", "pinned") && before["draft"] !== after["draft"])
      return { ...after, pinned: decidedAnew(traitor, after as unknown as Decided) };
    if (has(after, "topology", "signatures") && before["topology"] !== after["topology"])
      return { ...pinnedAnew(traitor, after as unknown as PinnedTopology) };
    if (has(after, "proposal", "receipts") && before["proposal"] !== after["proposal"])
      return { ...vouched(traitor, after as unknown as Certificate) };
    if (has(after, "proposal", "receipt") && before["proposal"] !== after["proposal"]) {
      const item = after as unknown as SettleItem;
      return { ...after, receipt: traitor.vouch(item.proposal) ?? item.receipt };
    }
    // With a token in hand it could ask for anything in its bearer's name: what no caller ever asked for stays unsigned.
    const isSaid = before["call"] === after["call"] && before["token"] === after["token"];
    return has(after, "call", "token", "attestation") && isSaid
      ? { ...attested(traitor, after as unknown as Forward) }
      : after;
  };

/** With its own receipt for another proposal. */
const vouched = (traitor: Traitor, certificate: Certificate): Certificate => {
  const own = traitor.vouch(certificate.proposal);
  const receipts = certificate.receipts.map((each) =>
    own !== undefined && each.header.peerId === traitor.peer.peerId ? own : each,
  );
  return { ...certificate, receipts };
};

/** A request that came in through it, in other words. */
const attested = ({ world, peer }: Traitor, forward: Forward): Forward => {
  const membership = peer.state?.cluster.membership;
  if (membership === undefined || forward.entryPeer !== peer.peerId) return forward;
  return attest(world.cryptography.crypto, peer.keys.identity, membership, forward);
};

class Tongue {
  readonly #traitor: Traitor;
  readonly #hearsay: Hearsay;
  readonly #life: DoubleLife | undefined;
  readonly #slander: Slander;
  readonly #rates = new Map<Message["_tag"], number>();
  /** What another member was told in place of a message to several. */
  #told: readonly [Message, Message] | undefined;

  constructor(traitor: Traitor, hearsay: Hearsay) {
    this.#traitor = traitor;
    this.#hearsay = hearsay;
    this.#life = DoubleLife.begin(traitor);
    this.#slander = new Slander(traitor);
  }

  hears(message: Message): Message {
    this.#slander.hears(message);
    return this.#life?.hears(message) ?? message;
  }

  #rateOf(unit: Unit, { _tag }: Message): number {
    const known = this.#rates.get(_tag);
    if (known !== undefined) return known;
    const rate = unit.oneOf(`lies in a thousand of ${_tag}`, 0, RATES);
    this.#rates.set(_tag, rate);
    return rate;
  }

  #lie(unit: Unit, message: Message): Message {
    const { world } = this.#traitor;
    const { composition } = world.product;
    const lie = falsified(composition, message, unit, this.#hearsay, signedAnew(this.#traitor, unit));
    if (lie === undefined) return message;
    world.marks.add("a member said what its driver had not");
    world.marks.add(
      isOfModule(message) ? "a field of a module's message was a lie" : `a field of a ${message._tag} was a lie`,
    );
    return lie;
  }

  says(to: PeerId, message: Message): ReadonlyArray<Message> {
    const unit = this.#traitor.next();
    const rate = this.#rateOf(unit, message);
    this.#hearsay.note(message);
    const said = unit.chance("lies", rate) ? this.#inPlaceOf(unit, message) : message;
    const all = [this.#slander.says(to, this.#life?.says(unit, to, said) ?? said)];
    if (unit.chance("says more", 40)) {
      const heard = this.#hearsay.message(unit);
      if (heard !== undefined) all.push(unit.chance("in other words", 600) ? this.#lie(unit, heard) : heard);
    }
    return all;
  }

  #inPlaceOf(unit: Unit, message: Message): Message {
    const isTold = this.#told?.[0] === message && unit.chance("as another was told", 400);
    const lie = isTold ? this.#told?.[1] : undefined;
    if (lie !== undefined) return lie;
    const told = this.#lie(unit, message);
    this.#told = [message, told];
    return told;
  }
}

/** What a loose tongue says, and what it listens for; both know what it has heard. */
export const looseTongue = (): { readonly lie: Lie; readonly mishear: Mishear } => {
  const hearsay = new Hearsay();
  const hasten = hastyAnswers();
  let tongue: Tongue | undefined;
  let isHasty: boolean | undefined;
  return {
    lie: (traitor, to, message) => {
      tongue ??= new Tongue(traitor, hearsay);
      return tongue.says(to, message);
    },
    mishear: (traitor, from, message) => {
      hearsay.note(message);
      // As a writer, some also tell of outcomes that are still open.
      isHasty ??= traitor.world.choices.plan("hasty tongue").chance("answers before all have it", 500);
      const heard = tongue?.hears(message) ?? message;
      return isHasty ? hasten(traitor, from, heard) : heard;
    },
  };
};
