/** Bugs of peers whose rows do not hold, and of sealed ones, which cannot know whether theirs do. */
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Ready } from "../../core/protocol/Message.ts";
import type { PlantedBug } from "./PlantedBug.ts";
import type { Tampering } from "../world/Tampering.ts";

const isSealed = ({ fitness: { unsealed } }: PeerState): boolean => !unsealed;
const isDamaged = ({ fitness: { integrityFault } }: PeerState): boolean => integrityFault !== undefined;

const announcement = ({ rejoining: { restored } }: PeerState): Partial<Ready> => ({ restored });
const highestSlot = ({ undecided: { highProof } }: PeerState): Partial<Ready> => ({ highSeqProof: highProof });

/** Such a peer answers a probe with something from its rows that it has signed, and perhaps never flushed. */
const shows =
  (isUnsure: (state: PeerState) => boolean, signed: (state: PeerState) => Partial<Ready>) => (): Tampering => ({
    said: ({ state }, message) =>
      message._tag === "Ready" && state !== undefined && isUnsure(state) ? { ...message, ...signed(state) } : message,
  });

export const damageBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "damage-ignored",
    changes: "a peer that finds its rows damaged goes on as if they were whole",
    finds: "S28",
    schedule: "row-tamper-delete",
    tampering: () => ({ ignoresDamage: true }),
  },
  {
    name: "missing-is-absent",
    changes: "a peer takes a record that it has and cannot find for one that was never registered",
    finds: "S25",
    schedule: "row-tamper-delete",
    tampering: () => ({ missesNothing: true }),
  },
  {
    name: "unverified-signer",
    changes: "a peer uses its keys before its rows are verified",
    finds: "S28",
    tampering: () => ({ signsUnverified: true }),
  },
  {
    name: "verifying-forgotten",
    changes: "a peer does not know any more that its rows are being verified when its keys come into use",
    finds: "S38",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        if (state.fitness.verifying) Object.assign(state, { fitness: { ...state.fitness, verifying: false } });
      },
    }),
  },
  {
    name: "announced-damaged",
    changes: "a peer whose rows do not hold shows others the new incarnation that lies in them",
    finds: "S31",
    schedule: "torn-restore",
    tampering: shows(isDamaged, announcement),
  },
  {
    name: "announced-sealed",
    changes: "a sealed peer shows others the new incarnation that lies in its rows",
    finds: "S31",
    schedule: "torn-restore",
    tampering: shows(isSealed, announcement),
  },
  {
    name: "highest-slot-damaged",
    changes: "a writer whose rows do not hold shows others the receipt for its highest slot that lies in them",
    finds: "S2",
    schedule: "torn-reservation",
    crypto: "codec",
    tampering: shows(isDamaged, highestSlot),
  },
  {
    name: "highest-slot-sealed",
    changes: "a sealed writer shows others the receipt for its highest slot that lies in its rows",
    finds: "S2",
    schedule: "torn-reservation",
    crypto: "codec",
    tampering: shows(isSealed, highestSlot),
  },
];
