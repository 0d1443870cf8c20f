/** Bugs in when members repair a share, and in what their audits tell of it. */
import { rejection } from "../../core/base/Rejection.ts";
import type { RepairState } from "../../core/commands/repairShare/RepairState.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import { FOREIGN, type PlantedBug, rows } from "./PlantedBug.ts";

export const repairBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "repairs-by-another-registry",
    changes: "a peer that has a share repaired names a registry that it does not have",
    finds: "K19",
    schedule: "restore-after-refresh",
    tampering: () => ({
      said: (_peer, message) => (message._tag === "Repair.Open" ? { ...message, registryRoot: FOREIGN } : message),
    }),
  },
  {
    name: "helps-while-undecided",
    changes: "a helper of a repair overlooks what is undecided at it",
    finds: "K19",
    schedule: "repair-retry-other-helpers",
    peers: 4,
    steps: 1_500,
    tampering: () => {
      const hidden = new Map<SimPeer, () => void>();
      return {
        delivered: (_world, peer, message) => {
          const { undecided } = peer.state ?? {};
          if (message._tag !== "Repair.Open" || !peer.isIdle || undecided === undefined) return message;
          const { preparations } = undecided;
          Object.assign(undecided, { preparations: new Map() });
          hidden.set(peer, () => Object.assign(undecided, { preparations }));
          return message;
        },
        said: (peer, message) => {
          hidden.get(peer)?.();
          hidden.delete(peer);
          return message;
        },
      };
    },
  },
  {
    name: "repair-outlives-destruction",
    changes: "a helper keeps its part in the repair of a key that is destroyed",
    finds: "K9",
    schedule: "destroy-under-repair-and-refresh",
    tampering: () => {
      /** By process: the sessions that it had after its last step. */
      const had = new Map<string, RepairState["helping"]>();
      return {
        stepped: (_world, { slot, process, store }, { modules }) => {
          const slice = modules["repairs"] as RepairState | undefined;
          if (slice === undefined) return;
          const name = `${slot} ${process}`;
          const over = [...(had.get(name) ?? [])].filter(
            ([target, { keyId }]) =>
              !slice.helping.has(target) && store.get("custodyKeys", keyId)?.status === "DESTROYED",
          );
          if (over.length > 0) Object.assign(slice, { helping: new Map([...slice.helping, ...over]) });
          had.set(name, slice.helping);
        },
      };
    },
  },
  {
    name: "repairs-another-generation",
    changes: "the audit of a repair names the generation after the one whose share was repaired",
    finds: "S32",
    schedule: "restore-after-refresh",
    tampering: rows("audit", (row) =>
      row.event === "SHARE_REPAIRED" ? { ...row, generation: (row.generation ?? 0) + 1 } : row,
    ),
  },
  {
    name: "helpers-always-wrong",
    changes: "a repair is refused for its helpers, whoever they are",
    finds: "K20",
    schedule: "restore-after-refresh",
    tampering: () => ({
      answered: (_world, answer) =>
        answer._tag === "Repaired"
          ? { _tag: "Rejected", rejection: rejection("INVALID_REQUEST_BODY", "A helper is no member.", "Name others.") }
          : answer,
    }),
  },
];
