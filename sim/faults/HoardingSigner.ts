/**
 * A member that gives away no share of a signature while it hears all that others say to it: with as few others as lack
 * one to sign it can neither make a signature nor keep the rest from making theirs.
 */
import type { SignMessageOf } from "../../core/commands/signWithKey/SignMessages.ts";
import type { Lie, Mishear } from "./Traitor.ts";

type Share = SignMessageOf<"Sign.Share">["items"][number];
type Commitments = SignMessageOf<"Sign.Commit">["commitments"];

const ways = ["nothing", "another's", "of another session"] as const;

/** What it says instead of its share, and what it hears for that. */
export const hoardingSigner = (): { readonly lie: Lie; readonly mishear: Mishear } => {
  let share: Share | undefined;
  let own: Share | undefined;
  let commitments: Commitments | undefined;
  return {
    mishear: (_traitor, _from, message) => {
      if (message._tag === "Sign.Share") share = message.items[0] ?? share;
      if (message._tag === "Sign.Commit") ({ commitments } = message);
      return message;
    },
    lie: (traitor, _to, message) => {
      const unit = traitor.next();
      if (message._tag === "Sign.Commit" && commitments !== undefined && unit.chance("commits as another", 100)) {
        const { hiding, binding } = commitments;
        return [{ ...message, commitments: { ...message.commitments, hiding, binding } }];
      }
      if (message._tag !== "Sign.Share" || !unit.chance("keeps its share", 800)) return [message];
      traitor.world.marks.add("a signer kept its share to itself");
      const how = unit.named("says", "nothing", ways, [4, 2, 2]);
      const said = how === "another's" ? share : own;
      own = message.items[0] ?? own;
      if (how === "nothing" || said === undefined) return [];
      return [{ ...message, items: message.items.map((each) => ({ ...each, scalar: said.scalar })) }];
    },
  };
};
