/** Bugs of members that believe a field of another member's message. */
import type { PublicKey } from "../../core/base/Digest.ts";
import { BATCH_TAG } from "../../core/protocol/Statement.ts";
import { permittingAll } from "../world/TokenKeys.ts";
import type { Tampering } from "../world/Tampering.ts";
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
    orFinds: ["S3", "S4", "S21", "L1", "L5"],
    schedule: "loose-tongue",
    tampering: anybodySigns,
  },
  {
    name: "answer-for-another",
    changes: "an outcome for a request that nobody waits for is taken for that of the request that waits longest",
    finds: "S41",
    orFinds: ["S14", "H1"],
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
];
