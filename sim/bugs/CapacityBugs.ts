/** Bugs at the edge of a page, a part, a batch or a capacity, and between two looks at one clock. */
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Write } from "../../core/Tables.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { TamperedWorld, Tampering } from "../world/Tampering.ts";
import type { PlantedBug } from "./PlantedBug.ts";

/** What is refused in a batch takes along what was prepared in it. */
const storedInPart = (writes: ReadonlyArray<Write>): ReadonlyArray<Write> =>
  writes.some(({ table, op }) => table === "refusals" && op === "insert")
    ? writes.filter(({ table, op }) => table !== "preparations" || op !== "insert")
    : writes;

/** A receipt that somebody passes on counts for every member whose own is missing. */
const countForAll = ({ plan }: TamperedWorld, { slot, state }: SimPeer, message: Message, from: PeerId): Message => {
  if (message._tag !== "SettleAnswer") return message;
  for (const { proposalId, held } of message.items) {
    const receipts = state?.undecided.preparations.get(proposalId)?.receipts;
    const heard = held.find(({ statement, header: { peerId } }) => {
      return statement.kind === "RECEIPT" && peerId !== from && peerId !== slot;
    });
    if (heard === undefined || !(receipts instanceof Map)) continue;
    for (let peerId = 1; peerId <= plan.peers; peerId++) if (!receipts.has(peerId)) receipts.set(peerId, heard);
  }
  return message;
};

/** Room is counted from none. */
const oneMore = (): Tampering => {
  const widened = new Set<object>();
  return {
    stepped: (_world, { settings: { capacities } }) => {
      if (!widened.has(capacities)) Object.assign(capacities, { preparations: capacities.preparations + 1 });
      widened.add(capacities);
    },
  };
};

/** Every abort is forgotten. */
const unpaced = (): Tampering => ({
  stepped: (_world, _peer, { undecided }) => void Object.assign(undecided, { abortsUntil: 0 }),
});

/** Room for bodies is never used up. */
const unweighed = (): Tampering => ({
  stepped: (_world, { settings: { capacities } }) =>
    void Object.assign(capacities, { evidenceBytes: Number.POSITIVE_INFINITY }),
});

export const capacityBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "one-more-preparation",
    changes: "a peer prepares one proposal more than it has room for",
    finds: "S10",
    schedule: "few-preparations",
    tampering: oneMore,
  },
  {
    name: "aborts-unpaced",
    changes: "a peer refuses and pledges as often as anybody asks it to",
    finds: "S65",
    schedule: "aborts-without-end",
    tampering: unpaced,
  },
  {
    name: "bodies-unweighed",
    changes: "messages are cut by the number of requests in them, and not by the bytes of their bodies",
    finds: "S51",
    schedule: "swarm",
    tampering: unweighed,
  },
  {
    name: "stored-in-part",
    changes: "a member that refuses one proposal of a batch does not store what it has prepared with it",
    finds: "S13",
    orFinds: ["S2"],
    schedule: "equivocating-writer",
    tampering: () => ({ written: (_world, _peer, writes) => storedInPart(writes) }),
  },
  {
    name: "hearsay-for-all",
    changes: "a receipt that a third member passes on counts for everybody whose own is missing",
    finds: "S3",
    schedule: "few-preparations",
    tampering: () => ({ delivered: countForAll }),
  },
  {
    name: "first-of-a-page",
    changes: "a member that is asked for the registry leaves out the first slot of every page but the first",
    finds: "L5",
    orFinds: ["L11"],
    schedule: "small-pages",
    steps: 400,
    tampering: () => ({
      said: (_peer, message) =>
        message._tag === "SnapshotOffer" && message.after !== ""
          ? { ...message, items: message.items.slice(1) }
          : message,
    }),
  },
  {
    name: "last-of-a-run",
    changes: "a list ends where the keys that were read at once end",
    finds: "S40",
    schedule: "small-pages",
    tampering: () => ({
      pages: (real) => (ports, wanted) => {
        const { view } = ports;
        const keys: typeof view.keys = (table, from, limit) => {
          const all = view.keys(table, from, limit);
          return all.length === limit && limit > 1 ? all.slice(0, -1) : all;
        };
        return real({ ...ports, view: { get: view.get, scan: view.scan, keys } }, wanted);
      },
    }),
  },
  {
    name: "clock-read-anew",
    changes: "a step reads the clock whenever it needs the time",
    finds: "S30",
    orFinds: ["L4"],
    tampering: () => ({ readsAnew: true }),
  },
];
