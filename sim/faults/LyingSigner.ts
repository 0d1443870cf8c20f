/**
 * Members that lie while keys are used: a signer whose shares are wrong, and coordinators that give one session several
 * packages, or the message or the name of another.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { SignMessageOf } from "../../core/commands/signWithKey/SignMessages.ts";
import type { Unit } from "../base/Choices.ts";
import type { Lie } from "./Traitor.ts";

const FOREIGN = "d".repeat(64) as Digest;
const HEX = 16;

/** A text of digits with one of them changed. */
export const bent = (unit: Unit, digits: string): string => {
  const at = unit.between("digit", 5, 0, Math.max(0, digits.length - 1), 0, 128);
  const digit = Number.parseInt(digits[at] ?? "0", HEX);
  return `${digits.slice(0, at)}${((digit + 1) % HEX).toString(HEX)}${digits.slice(at + 1)}`;
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

/** Sessions of one coordinator that a member keeps, and some. */
const MORE_THAN_KEPT = 260;
const numbered = (number: number): Digest => number.toString(HEX).padStart(64, "c") as Digest;

type Package = SignMessageOf<"Sign.Package">["items"][number];

const packages = ["another message", "another list", "twice", "two messages", "its own otherwise", "signers"] as const;
const ownFields = ["hiding", "binding", "index"] as const;

/** What the receiver has committed to stands in it otherwise. */
const ownOtherwise =
  (unit: Unit, own: number) =>
  (said: Package): Package => {
    const field = unit.named("own field", "hiding", ownFields, [1, 1, 1]);
    const other = said.commitments.find(({ index }) => index !== own)?.index ?? own + 1;
    const exchanged = (index: number): number => (index === own ? other : index === other ? own : index);
    const commitments = said.commitments.map((each) => {
      if (field === "index") return { ...each, index: exchanged(each.index) };
      return each.index === own ? { ...each, [field]: bent(unit, each[field]) } : each;
    });
    return { ...said, commitments };
  };

/** One signer stands in it twice, or one fewer signs than have to. */
const ofOtherSigners =
  (unit: Unit, own: number) =>
  (said: Package): Package => {
    const { commitments } = said;
    const others = commitments.filter(({ index }) => index !== own);
    return unit.chance("twice in it", 500)
      ? { ...said, commitments: [...commitments, ...others.slice(0, 1)] }
      : { ...said, commitments: commitments.filter((each) => each !== others[0]) };
  };

/** It gives its sessions packages that are wrong, or several of which one may be right. */
export const lyingCoordinator = (): Lie => {
  let opened = 0;
  return (traitor, to, message) => {
    const unit = traitor.next();
    if (message._tag === "Sign.Open" && unit.chance("opens it otherwise", 100))
      return [{ ...message, generation: message.generation + 1 }, message];
    if (message._tag === "Sign.Open" && unit.chance("opens many more", 150)) {
      traitor.world.marks.add("a coordinator opened more sessions than a member keeps");
      return [
        message,
        ...Array.from({ length: MORE_THAN_KEPT }, () => ({ ...message, sessionId: numbered(++opened) })),
      ];
    }
    if (message._tag !== "Sign.Package" || !unit.chance("lies in a package", 600)) return [message];
    const how = unit.named("package", "two messages", packages, [2, 2, 1, 3, 4, 6]);
    traitor.world.marks.add("a coordinator lied in a package");
    if (how === "its own otherwise") return [{ ...message, items: message.items.map(ownOtherwise(unit, to)) }, message];
    if (how === "signers") return [{ ...message, items: message.items.map(ofOtherSigners(unit, to)) }, message];
    const otherMessage = { ...message, items: message.items.map((each) => ({ ...each, messageDigest: FOREIGN })) };
    const otherList = {
      ...message,
      items: message.items.map((each) => ({
        ...each,
        // The receiver's own commitments stay: it looks for them.
        commitments: each.commitments.map((one) =>
          one.index === to ? one : { ...one, hiding: bent(unit, one.hiding) },
        ),
      })),
    };
    if (how === "another message") return [otherMessage];
    if (how === "another list") return [message, otherList];
    return how === "twice" ? [message, message] : [otherMessage, message];
  };
};

/** Names and messages of earlier sessions that a coordinator goes back to. */
const KEPT = 8;

/**
 * It takes the name of one session for the message of another: whoever was restarted remembers no name, and what is to be
 * signed under one may be what was asked for under another.
 */
export const confusingCoordinator = (): Lie => {
  const opened: Array<Digest> = [];
  const packaged: Array<Digest> = [];
  const keep = (known: Array<Digest>, digest: Digest): void => {
    if (known.includes(digest)) return;
    known.unshift(digest);
    known.splice(KEPT);
  };
  return (traitor, _to, message) => {
    const unit = traitor.next();
    const { marks } = traitor.world;
    const one = (known: ReadonlyArray<Digest>, label: string): Digest | undefined =>
      known[unit.between(label, 0, 0, Math.max(0, known.length - 1), 0, KEPT)];
    if (message._tag === "Sign.Open") {
      const name = unit.chance("opens it under an old name", 500) ? one(opened, "name") : undefined;
      keep(opened, message.sessionId);
      if (name === undefined || name === message.sessionId) return [message];
      marks.add("a coordinator opened two sessions under one name");
      return [{ ...message, sessionId: name }, message];
    }
    if (message._tag !== "Sign.Package") return [message];
    const other = unit.chance("asks for the message of another session", 300) ? one(packaged, "message") : undefined;
    for (const { messageDigest } of message.items) keep(packaged, messageDigest);
    if (other === undefined || message.items.every(({ messageDigest }) => messageDigest === other)) return [message];
    marks.add("a coordinator named the message of another session");
    return [{ ...message, items: message.items.map((each) => ({ ...each, messageDigest: other })) }, message];
  };
};
