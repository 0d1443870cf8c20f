/**
 * Members that lie while keys are made and used: a signer whose shares are wrong, a coordinator that gives one session
 * several packages or another message, and one that spoils the making of keys.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { Message } from "../../core/Message.ts";
import type { Unit } from "../base/Choices.ts";
import type { Lie } from "./Traitor.ts";

const FOREIGN = "d".repeat(64) as Digest;
const HEX = 16;

/** A text of digits with one of them changed. */
const bent = (unit: Unit, digits: string): string => {
  const at = unit.between("digit", 5, 0, Math.max(0, digits.length - 1), 0, 128);
  const digit = Number.parseInt(digits[at] ?? "0", HEX);
  return `${digits.slice(0, at)}${((digit + 1) % HEX).toString(HEX)}${digits.slice(at + 1)}`;
};

const bentBytes = (unit: Unit, bytes: Uint8Array): Uint8Array => {
  const at = unit.between("byte", 0, 0, Math.max(0, bytes.length - 1), 0, 128);
  return bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));
};

/** Its own shares of signatures are wrong, or of other commitments. */
export const lyingSigner = (): Lie => (traitor, _to, message) => {
  const unit = traitor.next();
  if (message._tag === "Sign.Share" && unit.chance("sends a wrong share", 600)) {
    traitor.world.marks.add("a signer sent a wrong share");
    return [{ ...message, items: message.items.map((each) => ({ ...each, scalar: bent(unit, each.scalar) })) }];
  }
  if (message._tag === "Sign.Commit" && unit.chance("commits to something else", 150)) {
    const { commitments } = message;
    return [{ ...message, commitments: { ...commitments, binding: bent(unit, commitments.binding) } }];
  }
  return [message];
};

const packages = ["another message", "another list", "twice", "two messages"] as const;

/** It gives its sessions packages that are wrong, or several of which one may be right. */
export const lyingCoordinator = (): Lie => (traitor, to, message) => {
  const unit = traitor.next();
  if (message._tag === "Sign.Open" && unit.chance("opens it otherwise", 100))
    return [{ ...message, generation: message.generation + 1 }, message];
  if (message._tag !== "Sign.Package" || !unit.chance("lies in a package", 600)) return [message];
  const how = unit.named("package", "two messages", packages, [2, 2, 1, 3]);
  traitor.world.marks.add("a coordinator lied in a package");
  const otherMessage = { ...message, items: message.items.map((each) => ({ ...each, messageDigest: FOREIGN })) };
  const otherList = {
    ...message,
    items: message.items.map((each) => ({
      ...each,
      // The receiver's own commitments stay: it looks for them.
      commitments: each.commitments.map((one) => (one.index === to ? one : { ...one, hiding: bent(unit, one.hiding) })),
    })),
  };
  if (how === "another message") return [otherMessage];
  if (how === "another list") return [message, otherList];
  return how === "twice" ? [message, message] : [otherMessage, message];
};

/** It says other packages to some, sends boxes that hold nothing, and says that it stored what nobody made. */
export const spoilingMaker =
  (): Lie =>
  (traitor, _to, message): ReadonlyArray<Message> => {
    const unit = traitor.next();
    const { marks } = traitor.world;
    if (message._tag === "Keygen.Package" && unit.chance("says another package", 250)) {
      marks.add("a member equivocated in a key generation");
      const { commitments, boxKey, proof } = message.said;
      const said = unit.chance("in its commitments", 500)
        ? { ...message.said, commitments: commitments.map((each) => bent(unit, each)) }
        : { ...message.said, boxKey: bent(unit, boxKey), proof };
      return [{ ...message, said }];
    }
    if (message._tag === "Keygen.Share" && unit.chance("spoils the box", 250)) {
      marks.add("a member sent a box that holds nothing");
      return [{ ...message, box: bentBytes(unit, message.box) }];
    }
    if (message._tag === "Keygen.Stored" && unit.chance("stored something else", 150))
      return [{ ...message, transcript: FOREIGN }];
    return [message];
  };
