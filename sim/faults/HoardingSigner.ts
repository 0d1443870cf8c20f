/**
 * A member that gives away no share of a signature while it hears all that others say to it: with as few others as lack
 * one to sign it can neither make a signature nor keep the rest from making theirs. Some commit to all that they are
 * asked for and refuse every package. Some withhold only what is signed with one key.
 */
import type { SignMessageOf } from "../../core/commands/signWithKey/SignMessages.ts";
import type { Message } from "../../core/Message.ts";
import type { Unit } from "../base/Choices.ts";
import type { Lie, Mishear } from "./Traitor.ts";

type Share = SignMessageOf<"Sign.Share">["items"][number];
type Commitments = SignMessageOf<"Sign.Commit">["commitments"];

const ways = ["nothing", "another's", "of another session", "a refusal"] as const;

/** What it gives as its reason: what honest ones say, of themselves or of the request, and what nobody does. */
const codes = [
  "SESSION_UNKNOWN",
  "WRONG_SIGNERS",
  "GENERATION_AHEAD",
  "SHARE_MISSING",
  "SESSION_TAKEN",
  "ACCESS_DENIED",
  "KEY_DESTROYED",
  "valueOf",
] as const;

const refusals = (unit: Unit, { items }: SignMessageOf<"Sign.Share">): ReadonlyArray<Message> =>
  items.map(({ sessionId }) => {
    const code = unit.named("refuses with", "SESSION_UNKNOWN", codes, [1, 1, 1, 1, 1, 1, 1, 1]);
    return { _tag: "Sign.Refused", sessionId, code };
  });

/** What it says instead of its share, and what it hears for that. */
export const hoardingSigner = (): { readonly lie: Lie; readonly mishear: Mishear } => {
  let share: Share | undefined;
  let own: Share | undefined;
  let commitments: Commitments | undefined;
  let isRefuser: boolean | undefined;
  let isPicky: boolean | undefined;
  /** Of the key that it signs nothing with. */
  let path: string | undefined;
  const victims = new Set<string>();
  return {
    mishear: (_traitor, _from, message) => {
      if (message._tag === "Sign.Open") {
        path ??= message.evidence.path;
        if (message.evidence.path === path) victims.add(message.sessionId);
      }
      if (message._tag === "Sign.Share") share = message.items[0] ?? share;
      if (message._tag === "Sign.Commit") ({ commitments } = message);
      return message;
    },
    lie: (traitor, _to, message) => {
      const unit = traitor.next();
      const { marks, choices } = traitor.world;
      isRefuser ??= choices.plan("hoarding signer").chance("refuses every package", 350);
      isPicky ??= choices.plan("picky signer").chance("withholds what is signed with one key", 300);
      if (message._tag === "Sign.Share" && isPicky && !isRefuser) {
        const items = message.items.filter(({ sessionId }) => !victims.has(sessionId));
        if (items.length < message.items.length) marks.add("a signer withheld what one key signs");
        return items.length === 0 ? [] : [{ ...message, items }];
      }
      if (message._tag === "Sign.Share" && isRefuser) {
        marks.add("a signer refused every package");
        return refusals(unit, message);
      }
      if (
        message._tag === "Sign.Commit" &&
        !isRefuser &&
        commitments !== undefined &&
        unit.chance("commits as another", 100)
      ) {
        const { hiding, binding } = commitments;
        return [{ ...message, commitments: { ...message.commitments, hiding, binding } }];
      }
      if (message._tag !== "Sign.Share" || !unit.chance("keeps its share", 800)) return [message];
      marks.add("a signer kept its share to itself");
      const how = unit.named("says", "nothing", ways, [4, 2, 2, 2]);
      const said = how === "another's" ? share : own;
      own = message.items[0] ?? own;
      if (how === "a refusal") return refusals(unit, message);
      if (how === "nothing" || said === undefined) return [];
      return [{ ...message, items: message.items.map((each) => ({ ...each, scalar: said.scalar })) }];
    },
  };
};
