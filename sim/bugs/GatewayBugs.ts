/** Bugs in what a caller is told, by its peer or on the way from it. */
import type { Answer } from "../../core/Action.ts";
import type { Rejection } from "../../core/base/Rejection.ts";
import type { Rows } from "../../core/Tables.ts";
import { effectsOf } from "../../core/commands/Effects.ts";
import type { PlantedBug } from "./PlantedBug.ts";
import type { TamperedWorld } from "../world/Tampering.ts";

/** Success, where a caller should have been told that the outcome is not known. */
const optimism = (world: TamperedWorld, answer: Answer): Answer => {
  if (answer._tag !== "Rejected" || !answer.rejection.outcomeUnknown) return answer;
  for (const { proposal, applied } of world.ghost.proposals.values()) {
    const approver = effectsOf(proposal)?.approver;
    if (approver?.ref === answer.rejection.ref && approver !== undefined && applied !== world.ghost.everyone)
      return { _tag: "Registered", created: true, approver, observations: undefined };
  }
  return answer;
};

/** Success, where a caller should have been told that another was first. */
const everybodyWins = (world: TamperedWorld, answer: Answer): Answer => {
  if (answer._tag !== "Rejected" || answer.rejection.code !== "PRECONDITION_FAILED") return answer;
  const facts = world.ghost.subjects.get(answer.rejection.ref ?? "");
  // No other refusal of this kind has a ref.
  const approver = facts && ([...facts.revisions.values()].at(-1) as Rows["approvers"] | undefined);
  return approver === undefined ? answer : { _tag: "Replaced", approver };
};

/** A refusal of a change for want of members, changed. */
const unavailable =
  (change: (rejection: Rejection) => Rejection) =>
  (_world: TamperedWorld, answer: Answer): Answer =>
    answer._tag === "Rejected" && answer.rejection.code === "APPROVER_REPLICATION_UNAVAILABLE"
      ? { ...answer, rejection: change(answer.rejection) }
      : answer;

export const gatewayBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "everybody-wins",
    changes: "a caller whose revision was passed is told that its replacement was made",
    finds: "S14",
    tampering: () => ({ answered: everybodyWins }),
  },
  {
    name: "somebody-is-missing",
    changes: "a caller is told that members are in the way, and not which",
    finds: "S53",
    tampering: () => ({ answered: unavailable((rejection) => ({ ...rejection, members: [] })) }),
  },
  {
    name: "sealed-they-say",
    changes: "a caller is told of every member in the way that it is sealed",
    finds: "S53",
    schedule: "flapping-link",
    tampering: () => ({
      answered: unavailable((rejection) => ({
        ...rejection,
        members: rejection.members.map(({ peerId }) => ({ peerId, reason: "it is sealed" })),
      })),
    }),
  },
  {
    name: "another-topology",
    changes: "a caller is told of every member in the way that it belongs to another cluster",
    finds: "S53",
    schedule: "flapping-link",
    tampering: () => ({
      answered: unavailable((rejection) => ({
        ...rejection,
        members: rejection.members.map(({ peerId }) => ({ peerId, reason: "it belongs to another topology" })),
      })),
    }),
  },
  {
    name: "answer-early",
    changes: "a caller is told of success while the outcome is not known",
    finds: "S14",
    schedule: "one-way-partition",
    tampering: () => ({ answered: optimism }),
  },
  {
    name: "stored-for-the-asking",
    changes: "a member says that it stores whatever it is asked for, while the writer tells of changes that it lacks",
    finds: "S14",
    schedule: "falsifying-writer",
    tampering: () => ({
      delivered: (world, peer, message, from) => {
        const incarnation = peer.state?.signed.chain.incarnation;
        if (message._tag === "StoredQuery" && incarnation !== undefined) {
          const { requestId, ref } = message;
          world.mail.utter(peer, from, { _tag: "StoredAnswer", requestId, ref, incarnation, revision: 1_000 });
        }
        return message;
      },
    }),
  },
  {
    name: "newer-than-others",
    changes: "an entry peer asks members whether they store an approver, and shows a revision that they may not have",
    finds: "H1",
    schedule: "retry-among-replacements",
    tampering: () => ({
      delivered: (_world, _peer, message) =>
        message._tag === "StoredAnswer" ? { ...message, revision: Number.MAX_SAFE_INTEGER } : message,
    }),
  },
  {
    name: "certain-all-the-same",
    changes: "a caller is told for certain that nothing was done, where its outcome is open",
    finds: "S14",
    schedule: "falsifying-writer",
    tampering: () => ({
      answered: (_world, answer) =>
        answer._tag === "Rejected" ? { ...answer, rejection: { ...answer.rejection, outcomeUnknown: false } } : answer,
    }),
  },
  {
    name: "boast",
    changes: "a repetition is answered as a new approver, also while a member is down",
    finds: "L8",
    schedule: "retry-storm-identical",
    tampering: () => {
      const truths = new WeakMap<Answer, Answer>();
      return {
        answered: (world, answer) => {
          if (answer._tag !== "Registered" || world.peers.every((peer) => peer.isUp)) return answer;
          const boast = { ...answer, created: true };
          truths.set(boast, answer);
          return boast;
        },
        // Callers would notice too, and sooner (H1).
        told: (_world, _requestId, answer) => truths.get(answer) ?? answer,
      };
    },
  },
  {
    name: "forgetful-gateway",
    changes: "between a peer and its callers every seventh read is lost and taken for a missing approver",
    finds: "H1",
    tampering: () => {
      let count = 0;
      return { shown: (found) => (++count % 7 === 0 ? undefined : found) };
    },
  },
  {
    name: "cheerful-gateway",
    changes: "a caller that was refused another's key is told that it has registered it",
    finds: "H1",
    schedule: "twin-keys-two-ids",
    tampering: () => ({
      told: (world, _requestId, answer) => {
        if (answer._tag !== "Rejected" || answer.rejection.code !== "KEY_ALREADY_REGISTERED") return answer;
        for (const { proposal } of world.ghost.proposals.values()) {
          const approver = effectsOf(proposal)?.approver;
          if (approver === undefined || answer.rejection.ref?.endsWith(approver.ref.slice(-64)) !== true) continue;
          const [id = ""] = answer.rejection.ref.split("@");
          const row = { ...approver, id, ref: answer.rejection.ref };
          return { _tag: "Registered", created: false, approver: row, observations: undefined };
        }
        return answer;
      },
    }),
  },
  {
    name: "two-creators",
    changes: "a caller that repeats itself is told that it has created what was there before it asked",
    finds: "H1",
    schedule: "retry-storm-identical",
    tampering: () => ({
      told: (_world, _requestId, answer) => (answer._tag === "Registered" ? { ...answer, created: true } : answer),
    }),
  },
  {
    name: "stale-gateway",
    changes: "a read shows an approver with metadata that it never had",
    finds: "H1",
    tampering: () => ({ shown: (found) => found && { ...found, metadata: [["team", "of yesterday"]] } }),
  },
];
