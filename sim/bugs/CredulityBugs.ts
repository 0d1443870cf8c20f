/** Bugs of members that believe a field of another member's message, or whatever their machine computes. */
import type { PublicKey } from "../../core/base/Digest.ts";
import { Limits } from "../../core/base/Limits.ts";
import type { Message } from "../../core/Message.ts";
import type { PrepareItem } from "../../core/protocol/Message.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import { RESTORATION_TAG } from "../../core/protocol/Restoration.ts";
import { BATCH_TAG } from "../../core/protocol/Statement.ts";
import { permittingAll } from "../world/TokenKeys.ts";
import type { Tampering } from "../world/Tampering.ts";
import { withSuites } from "./KeyBugs.ts";
import type { PlantedBug } from "./PlantedBug.ts";

/** Signatures of batches hold under the key of any member that was ever heard. */
const anybodySigns = (): Tampering => {
  const keys = new Set<PublicKey>();
  return {
    cryptography: (cryptography) => {
      const { crypto } = cryptography;
      const verify: typeof crypto.verify = (key, tag, codec, value, signature) => {
        keys.add(key);
        const isSignedBy = (each: PublicKey): boolean => crypto.verify(each, tag, codec, value, signature);
        return isSignedBy(key) || (tag === BATCH_TAG && [...keys].some(isSignedBy));
      };
      return { ...cryptography, crypto: { ...crypto, verify } };
    },
  };
};

/** No signature of a kind is verified in messages of some kind. */
const believing =
  (isBelieved: (message: Message) => boolean, signed: string = BATCH_TAG) =>
  (): Tampering => {
    let believes = false;
    return {
      delivered: (_world, _peer, message) => {
        believes = isBelieved(message);
        return message;
      },
      cryptography: (cryptography) => {
        const { crypto } = cryptography;
        const verify: typeof crypto.verify = (key, tag, codec, value, signature) =>
          (believes && tag === signed) || crypto.verify(key, tag, codec, value, signature);
        return { ...cryptography, crypto: { ...crypto, verify } };
      },
    };
  };

/** Late proposals are shown to the core with a later deadline, under their own ids, and stored as they were. */
const withoutDeadlines = (): Tampering => {
  const originals = new WeakMap<object, Proposal>();
  return {
    delivered: ({ realMillis }, peer, message) => {
      const now = peer.clock.at(realMillis);
      const later = (item: PrepareItem): PrepareItem => {
        const { proposal } = item;
        if (proposal.expiresAt >= now || proposal.proposedAt + Limits.proposalMillis < now) return item;
        const shown = { ...proposal, expiresAt: now };
        originals.set(shown, proposal);
        return { ...item, proposal: shown };
      };
      return message._tag === "Prepare" ? { ...message, items: message.items.map(later) } : message;
    },
    cryptography: (cryptography) => {
      const { crypto } = cryptography;
      const digest: typeof crypto.digest = (tag, codec, value) => {
        const original = typeof value === "object" && value !== null ? originals.get(value) : undefined;
        // Both are proposals.
        return crypto.digest(tag, codec, original === undefined ? value : (original as typeof value));
      };
      return { ...cryptography, crypto: { ...crypto, digest } };
    },
    written: (_world, _peer, writes) =>
      writes.map((write) => {
        if (write.table !== "preparations" || write.op === "remove") return write;
        const proposal = originals.get(write.row.proposal);
        return proposal === undefined ? write : { ...write, row: { ...write.row, proposal } };
      }),
  };
};

export const credulityBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "writer-knows-best",
    changes: "a member takes the writer's word for it that a token permits what its bearer asks for",
    finds: "S30",
    schedule: "loose-tongue",
    tampering: () => ({
      judged: (_world, { peerId, state }, check, isEvidence) =>
        isEvidence && state?.cluster.membership?.writer !== peerId ? permittingAll(check) : check,
    }),
  },
  {
    name: "entry-knows-best",
    changes: "the writer takes an entry peer's word for it that a token permits what its bearer asks for",
    finds: "S30",
    schedule: "loose-tongue",
    tampering: () => ({
      judged: (_world, { peerId, state }, check, isEvidence) =>
        isEvidence && state?.cluster.membership?.writer === peerId ? permittingAll(check) : check,
    }),
  },
  {
    name: "anybody-signs",
    changes: "a statement counts as its signer's whichever member has signed it",
    finds: "S2",
    orFinds: ["S3", "S4", "S14", "S21", "S31", "L1", "L5"],
    schedule: "falsifying-writer",
    tampering: anybodySigns,
  },
  {
    name: "answer-for-another",
    changes: "an outcome for a request that nobody waits for is taken for that of the request that waits longest",
    finds: "S41",
    orFinds: ["S14", "S30", "H1"],
    schedule: "loose-tongue",
    tampering: () => ({
      delivered: (_world, { state }, message) => {
        const awaited = state?.requests.awaited;
        const [oldest] = awaited?.keys() ?? [];
        if (message._tag !== "Outcome" || oldest === undefined || awaited?.has(message.requestId) === true)
          return message;
        return { ...message, requestId: oldest };
      },
    }),
  },
  {
    name: "anybody-is-the-writer",
    changes: "a member takes what any member says for the writer's word",
    finds: "S41",
    schedule: "loose-tongue",
    tampering: () => ({
      sender: ({ state }, from, { _tag }) =>
        _tag === "Prepare" || _tag === "Outcome" || _tag === "Forwarded"
          ? (state?.cluster.membership?.writer ?? from)
          : from,
    }),
  },
  {
    name: "one-answers-for-all",
    changes: "a member that says that it stores a result is taken for every member that was asked",
    finds: "S14",
    orFinds: ["H1"],
    schedule: "falsifying-writer",
    tampering: () => ({
      delivered: (_world, { state }, message) => {
        if (message._tag !== "StoredAnswer") return message;
        const storedAt = state?.requests.awaited.get(message.requestId)?.storedAt;
        if (!(storedAt instanceof Map)) return message;
        for (const peerId of state?.cluster.membership?.peerIds ?? [])
          storedAt.set(peerId, { incarnation: message.incarnation, revision: message.revision });
        return message;
      },
    }),
  },
  {
    name: "outcome-unproven",
    changes: "an entry peer takes the writer's word for the signatures under an outcome",
    finds: "S14",
    orFinds: ["S2", "H1"],
    schedule: "falsifying-writer",
    tampering: believing((message) => message._tag === "Outcome"),
  },
  {
    name: "slander-believed",
    changes: "a writer takes any member's word for what it has signed itself",
    finds: "S57",
    orFinds: ["S21", "S22"],
    schedule: "loose-tongue",
    tampering: believing((message) => message._tag === "Ready"),
  },
  {
    name: "restored-by-hearsay",
    changes: "a peer takes any member's word for it that it was restored since",
    finds: "S57",
    orFinds: ["S21"],
    schedule: "loose-tongue",
    tampering: believing(({ _tag }) => _tag === "Ready" || _tag === "ReadyProbe", RESTORATION_TAG),
  },
  {
    name: "any-deadline",
    changes: "a member signs what is proposed to it after its deadline",
    finds: "S17",
    orFinds: ["S30"],
    schedule: "lying-writer",
    tampering: withoutDeadlines,
  },
  {
    name: "machine-trusted",
    changes: "a peer that is alone with a key answers with whatever its machine computes",
    finds: "K14",
    schedule: "keys",
    peers: 1,
    tampering: withSuites((suite) => ({ ...suite, verify: () => true })),
  },
];
