/** Bugs in what members are asked again, in what they are told they need not keep, and in what is said and written twice. */
import { signingIn } from "../../core/commands/signWithKey/SigningState.ts";
import type { Answer } from "../../core/Action.ts";
import type { Message } from "../../core/Message.ts";
import type { Write } from "../../core/Tables.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { TamperedWorld, Tampering } from "../world/Tampering.ts";
import type { PlantedBug } from "./PlantedBug.ts";

/** Takes a question about a request for one that was asked at another moment of the peer's own clock. */
const askedAt =
  (elapsed: number) =>
  (_world: unknown, { state }: SimPeer): void => {
    for (const awaited of state?.requests.awaited.values() ?? []) Object.assign(awaited, { sentAt: elapsed });
  };

const stableTooSoon = (message: Message): Message =>
  message._tag === "Prepare" ? { ...message, stableSeq: message.stableSeq + 1 } : message;

const wordsTwice = (message: Message): Message =>
  message._tag === "CommitAcks"
    ? { ...message, statements: message.statements.flatMap((each) => [each, each]) }
    : message;

/** An attempt that follows a refused package is begun with whoever refused it. */
const asksRefusersAgain = (): Tampering => {
  const opens = new Map<string, Message>();
  return {
    said: (_peer, message) => {
      if (message._tag === "Sign.Open") opens.set(message.sessionId, message);
      return message;
    },
    stepped: (world, peer, state) => {
      for (const { attempt, withheld } of signingIn(state).requests.values()) {
        const again = [...withheld.keys()].find((peerId) => peerId !== peer.peerId);
        const open = opens.get(attempt.sessionId);
        if (again === undefined || open === undefined || attempt.asked.has(again)) continue;
        Object.assign(attempt, { asked: new Set([peer.peerId, again]) });
        world.mail.utter(peer, again, open);
      }
    },
  };
};

/** Whoever is not named as being in the way of a signature is named as silent. */
const allSilent = ({ peers }: TamperedWorld, answer: Answer): Answer => {
  if (answer._tag !== "Rejected" || answer.rejection.code !== "SIGNING_QUORUM_UNAVAILABLE") return answer;
  const { members } = answer.rejection;
  const others = peers.filter(({ peerId }) => members.every((named) => named.peerId !== peerId));
  const silent = others.map(({ peerId }) => ({ peerId, reason: "it does not answer" }));
  return { ...answer, rejection: { ...answer.rejection, members: [...members, ...silent] } };
};

/** With every transaction, what a peer has on record of another is written as it was written before. */
const recordsAgain = (): Tampering => {
  const known = new Map<SimPeer, Write>();
  return {
    written: (_world, peer, writes) => {
      const before = known.get(peer);
      const own = writes.findLast((write) => write.table === "seen" && write.op === "replace");
      if (own !== undefined) known.set(peer, own);
      return before === undefined || own !== undefined ? writes : [...writes, before];
    },
  };
};

export const repetitionBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "asked-once",
    changes: "a peer asks other members once about a request of its caller, and never again",
    finds: "S51",
    schedule: "swarm",
    tampering: () => ({ stepped: askedAt(Number.POSITIVE_INFINITY) }),
  },
  {
    name: "asked-at-every-look",
    changes: "a coordinator asks its signers again whenever it looks, not after half a second",
    finds: "S51",
    schedule: "keys-on-a-lossy-network",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        for (const { attempt } of signingIn(state).requests.values())
          Object.assign(attempt, { askedAt: Number.NEGATIVE_INFINITY });
      },
    }),
  },
  {
    name: "signers-asked-once",
    changes: "a coordinator does not ask its signers again",
    finds: "K22",
    schedule: "keys-on-a-lossy-network",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        for (const { attempt } of signingIn(state).requests.values())
          Object.assign(attempt, { askedAt: Number.POSITIVE_INFINITY });
      },
    }),
  },
  {
    name: "silent-signers-first",
    changes: "a coordinator asks first whoever has left it waiting",
    finds: "K22",
    schedule: "keys-on-a-lossy-network",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        for (const experience of signingIn(state).members.values())
          if (experience.failedAt !== undefined || experience.withheldAt !== undefined)
            Object.assign(experience, { failedAt: undefined, withheldAt: undefined, millis: -1 });
      },
    }),
  },
  {
    name: "refusers-asked-again",
    changes: "a coordinator asks whoever has refused its package again, and nobody else",
    finds: "K22",
    orFinds: ["LK2"],
    schedule: "traitor-holds-t-minus-1",
    tampering: asksRefusersAgain,
  },
  {
    name: "unasked-are-silent",
    changes: "members that a coordinator did not ask to sign are said not to answer",
    finds: "K22",
    schedule: "keys-and-crashes",
    tampering: () => ({ answered: allSilent }),
  },
  {
    name: "stable-too-soon",
    changes: "the writer calls one slot more stable than every member has applied",
    finds: "S52",
    schedule: "swarm",
    tampering: () => ({ said: (_peer, message) => stableTooSoon(message) }),
  },
  {
    name: "words-said-twice",
    changes: "an acknowledgement is in its message twice",
    finds: "S55",
    schedule: "swarm",
    tampering: () => ({ said: (_peer, message) => wordsTwice(message) }),
  },
  {
    name: "recorded-again",
    changes: "every transaction writes again what is on record of a member",
    finds: "S55",
    schedule: "swarm",
    tampering: recordsAgain,
  },
];
