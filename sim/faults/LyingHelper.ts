/** A helper in repairs that lies: it tells sums or summands that are others than they should be, opens to nobody, or refuses. */
import type { Helping, RepairState } from "../../core/commands/repairShare/RepairState.ts";
import type { RepairMessageOf } from "../../core/commands/repairShare/RepairMessages.ts";
import { sealedFor } from "../../core/commands/repairShare/Secrets.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Lie, Traitor } from "./Traitor.ts";

type Told = RepairMessageOf<"Repair.Part"> | RepairMessageOf<"Repair.Sum">;

const ways = ["something else", "a box that holds nothing", "a refusal", "nothing"] as const;

const helpingIn = ({ peer: { state } }: Traitor, { sessionId }: Told): Helping | undefined => {
  const { helping } = (state?.modules["repairs"] as RepairState | undefined) ?? { helping: new Map() };
  return [...helping.values()].find((each) => each.sessionId === sessionId);
};

/** The same message with secrets in it that are real ones, of other members or of none: nobody can tell from outside. */
const otherwise = (traitor: Traitor, to: PeerId, message: Told): Told | undefined => {
  const helping = helpingIn(traitor, message);
  const isSum = message._tag === "Repair.Sum";
  const theirs = isSum ? helping?.targetKey : helping?.keys.get(to);
  if (helping === undefined || theirs === undefined) return undefined;
  const { asked, boxSeed, generations, parts, target } = helping;
  const from = traitor.peer.peerId;
  const wrong = parts.flatMap((each) => [...each].filter(([index]) => isSum || index !== to).slice(0, 1));
  const boxes = sealedFor(
    traitor.world.cryptography.keyCrypto.boxes,
    boxSeed,
    theirs,
    { what: isSum ? "sum" : "part", target, asked, generations, from, to },
    wrong.map(([, secret]) => secret),
  );
  return boxes && { ...message, boxes };
};

export const lyingHelper =
  (): Lie =>
  (traitor, to, message): ReadonlyArray<Message> => {
    const unit = traitor.next();
    if (message._tag !== "Repair.Part" && message._tag !== "Repair.Sum") return [message];
    if (!unit.chance("lies in a repair", 500)) return [message];
    const way = unit.named("tells", "something else", ways, [12, 1, 1, 1]);
    const { marks } = traitor.world;
    if (way === "nothing") return [];
    if (way === "a refusal") return [{ _tag: "Repair.Refused", sessionId: message.sessionId, code: "UNDECIDED" }];
    if (way === "a box that holds nothing")
      return [{ ...message, boxes: message.boxes.map((box) => box.map((byte, at) => (at === 0 ? byte ^ 1 : byte))) }];
    const lie = otherwise(traitor, to, message);
    if (lie === undefined) return [message];
    marks.add("a helper told something else in a repair");
    return [lie];
  };
