/**
 * A target of a promotion lies: it accepts what it was not offered, accepts twice, accepts and refuses, is bound to
 * another draft than it says, or says that it is installed when it is not. Beside that it has a loose tongue.
 */
import { absurd } from "effect";
import type { Message } from "../../core/Message.ts";
import type { Draft } from "../../core/protocol/PromotionDraft.ts";
import type { PromotionMessageOf } from "../../core/protocol/PromotionMessages.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { looseTongue } from "./LooseTongue.ts";
import type { Lie, Mishear, Traitor } from "./Traitor.ts";
import { draftTopology, signatureUnder, transferOf, twinOf } from "./Twins.ts";

type Accepted = PromotionMessageOf<"Promotion.Accepted">;

const answers = ["the truth", "another draft", "another signature", "both", "a refusal too", "nothing"] as const;

class Target {
  readonly #traitor: Traitor;
  /** What its source has offered last, and in the place of that. */
  #offered: { readonly draft: Draft; readonly twin: Draft } | undefined;
  readonly #isBoundToTwin: boolean;
  readonly #neverInstalls: boolean;
  readonly #isEarly: boolean;

  constructor(traitor: Traitor) {
    this.#traitor = traitor;
    const unit = traitor.next();
    this.#isBoundToTwin = unit.chance("binds itself to another draft", 150);
    this.#neverInstalls = unit.chance("installs nothing", 250);
    this.#isEarly = this.#neverInstalls || unit.chance("is installed early", 400);
  }

  #mark(what: string): void {
    this.#traitor.world.marks.add(`a lying target: ${what}`);
  }

  #accepts(message: Accepted): ReadonlyArray<Message> {
    const how = this.#traitor.next().named("answers", "the truth", answers, [5, 2, 2, 2, 2, 1]);
    if (how === "the truth" || this.#offered === undefined) return [message];
    this.#mark(`accepted with ${how}`);
    const { identityKey, transferId } = message;
    const { twin } = this.#offered;
    const other: Accepted = {
      ...message,
      transferId: transferOf(this.#traitor, twin),
      signature: signatureUnder(this.#traitor, draftTopology(this.#traitor, twin)),
    };
    switch (how) {
      case "another draft":
        return [other];
      case "another signature":
        return [{ ...message, signature: other.signature }];
      case "both":
        return [{ ...message, signature: other.signature }, other, message];
      case "a refusal too": {
        const fault = `it is bound to the promotion ${other.transferId}, for ever`;
        return [message, { _tag: "Promotion.Refused", identityKey, transferId, fault }];
      }
      case "nothing":
        return [];
      default:
        return absurd(how);
    }
  }

  says(to: PeerId, message: Message): ReadonlyArray<Message> {
    const said = message._tag === "Promotion.Accepted" ? this.#accepts(message) : [message];
    if (!this.#isEarly || to !== this.#offered?.draft.source) return said;
    if (!this.#traitor.next().chance("says that it is installed", 300)) return said;
    this.#mark("installed early");
    const transferId = transferOf(this.#traitor, this.#offered.draft);
    return [
      { _tag: "Promotion.Installed", identityKey: this.#traitor.peer.keys.identity.publicKey, transferId },
      ...said,
    ];
  }

  #isOffered(draft: Draft): boolean {
    const known = this.#offered?.draft;
    return known !== undefined && transferOf(this.#traitor, known) === transferOf(this.#traitor, draft);
  }

  hears(message: Message): Message | undefined {
    if (message._tag === "Promotion.Decided" && this.#neverInstalls) {
      this.#mark("installed nothing");
      return undefined;
    }
    if (message._tag !== "Promotion.Draft") return message;
    const { draft } = message;
    if (!this.#isOffered(draft)) this.#offered = { draft, twin: twinOf(this.#traitor, draft) };
    if (!this.#isBoundToTwin || this.#offered === undefined) return message;
    this.#mark("bound to another draft");
    return { ...message, draft: this.#offered.twin };
  }
}

export const lyingTarget = (): { readonly lie: Lie; readonly mishear: Mishear } => {
  const tongue = looseTongue();
  let target: Target | undefined;
  return {
    lie: (traitor, to, message) => {
      target ??= new Target(traitor);
      return target.says(to, message).flatMap((each) => tongue.lie(traitor, to, each));
    },
    mishear: (traitor, from, message) => {
      target ??= new Target(traitor);
      const heard = target.hears(message);
      return heard && tongue.mishear(traitor, from, heard);
    },
  };
};
