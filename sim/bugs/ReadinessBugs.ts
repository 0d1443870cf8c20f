/** Bugs of a writer that reserves although not every member has just said that it is ready. */
import { digest, pair, uint } from "../../core/codec/Codec.ts";
import type { PlantedBug } from "./PlantedBug.ts";

export const readinessBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "silence-is-consent",
    changes: "a second probe is not waited for: what the last one found missing is forgotten",
    finds: "S42",
    schedule: "swarm",
    tampering: () => ({
      stepped: (_world, _peer, { probing: { verdict } }) => {
        if (verdict !== undefined) Object.assign(verdict, { faults: [] });
      },
    }),
  },
  {
    name: "ready-for-another",
    changes: "an answer to a probe counts for every member that has not answered yet",
    finds: "S42",
    orFinds: ["S43"],
    schedule: "swarm",
    tampering: () => {
      let counted: number | undefined;
      return {
        delivered: ({ cryptography: { crypto } }, { state, peerId }, message, from) => {
          counted = undefined;
          const probe = state?.probing.probe;
          if (message._tag !== "Ready" || probe === undefined || !probe.answers.has(from)) return message;
          counted = state?.cluster.membership?.peerIds.find((each) => each !== peerId && !probe.answers.has(each));
          if (counted === undefined) return message;
          const nonce = crypto.digest("CUSTODY_PROBE_V1", pair(digest, uint), [probe.nonce, counted]);
          return { ...message, peerId: counted, nonce };
        },
        sender: (_peer, from) => counted ?? from,
      };
    },
  },
  {
    name: "verdict-for-ever",
    changes: "that all members are ready is believed for as long as no member is found missing",
    finds: "S43",
    tampering: () => ({
      stepped: (_world, _peer, { probing: { verdict } }) => {
        if (verdict?.faults.length === 0) Object.assign(verdict, { probedAt: Number.POSITIVE_INFINITY });
      },
    }),
  },
];
