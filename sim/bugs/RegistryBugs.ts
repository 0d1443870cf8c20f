/** Bugs in what is stored and read: approvers, keys, the root, the audit. */
import { TOKEN_MARK } from "../crypto/SecretMarks.ts";
import { type PlantedBug, rows, without } from "./PlantedBug.ts";
import type { Tampering } from "../world/Tampering.ts";
import { Either } from "effect";

/** Takes every If-Match for the current revision, so that the last caller wins. */
const lastOneWins = (): Tampering => ({
  asked: (peer, request) => {
    const { call } = request;
    const ref = call.method === "PUT" ? decodeURIComponent(call.path.split("/")[4] ?? "") : "";
    const current = peer.isDamaged ? undefined : peer.store.get("approvers", ref);
    return current === undefined ? request : { ...request, call: { ...call, ifMatch: `"${current.revision}"` } };
  },
});

export const registryBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "thrown-out-of-a-step",
    changes: "a member that finds a key registered fails with a TypeError",
    finds: "E1",
    tampering: () => ({
      found: (_peer, table, row) => {
        if (table === "keys" && row !== undefined) throw new TypeError("a key has an owner");
        return row;
      },
    }),
  },
  {
    name: "stolen-key",
    changes: "the key index names another owner than the approver that was stored",
    finds: "S7",
    tampering: rows("keys", () => ({ id: "mallory" })),
  },
  {
    name: "older-delivery-wins",
    changes: "a later revision is stored under the number of the one that it replaces",
    finds: "S11",
    tampering: rows("approvers", (row) => (row.revision > 2 ? { ...row, revision: row.revision - 1 } : row)),
  },
  {
    name: "old-terms-stay",
    changes: "metadata that is replaced stays in the index of approvers",
    finds: "S13",
    tampering: without((write) => write.table === "terms" && write.op === "remove"),
  },
  {
    name: "unlisted",
    changes: "one peer leaves approvers out of its index",
    finds: "S13",
    tampering: () => ({
      written: (_world, peer, writes) => (peer.slot === 2 ? writes.filter(({ table }) => table !== "terms") : writes),
    }),
  },
  {
    name: "update-without-time",
    changes: "a replacement leaves the time of the last update as it was at registration",
    finds: "S11",
    tampering: rows("approvers", (row) => (row.revision > 1 ? { ...row, updatedAt: row.createdAt } : row)),
  },
  {
    name: "own-metadata",
    changes: "one peer stores metadata of its own when it is replaced",
    finds: "S11",
    tampering: () => ({
      written: (_world, peer, writes) =>
        writes.map((write) =>
          peer.slot === 2 && write.table === "approvers" && write.op === "replace"
            ? { ...write, row: { ...write.row, metadata: [["team", "own"] as const] } }
            : write,
        ),
    }),
  },
  {
    name: "last-one-wins",
    changes: "If-Match is taken for the current revision, whatever it says, so updates are lost",
    finds: "S30",
    tampering: lastOneWins,
  },
  {
    name: "format-is-identity",
    changes: "a key in another format is taken for another key",
    finds: "S30",
    orFinds: ["S49"],
    schedule: "format-switch-same-key",
    tampering: () => ({
      cryptography: (honest) => ({
        ...honest,
        providers: new Map(
          [...honest.providers].map(([name, provider]) => [name, { ...provider, normalize: Either.right }]),
        ),
      }),
    }),
  },
  {
    name: "counted-twice",
    changes: "an approver that is replaced stays in the registry root as it was",
    finds: "S13",
    tampering: () => ({
      cryptography: (honest) => ({
        ...honest,
        crypto: {
          ...honest.crypto,
          replaceInSet: (set, _removed, added) => honest.crypto.replaceInSet(set, undefined, added),
        },
      }),
    }),
  },
  {
    name: "first-revision-in-audit",
    changes: "audit rows of replacements speak of revision 1",
    finds: "S32",
    tampering: rows("audit", (row) => ({ ...row, metadataRevision: row.metadataRevision && 1 })),
  },
  {
    name: "writer-in-audit",
    changes: "audit rows name the writer as the peer that every request came in through",
    finds: "S32",
    tampering: rows("audit", (row) => ({ ...row, entryPeer: 1 })),
  },
  {
    name: "stale-reader",
    changes: "reads give the first revision, whatever has become of it",
    finds: "S25",
    tampering: () => ({ read: (found) => found && { ...found, revision: 1 } }),
  },
  {
    name: "blind-reader",
    changes: "reads find nothing",
    finds: "S25",
    tampering: () => ({ read: () => undefined }),
  },
  {
    name: "own-clock-in-record",
    changes: "each peer stores its own idea of when an approver was created",
    finds: "S12",
    tampering: () => ({
      written: (_world, peer, writes) =>
        writes.map((write) =>
          write.table === "approvers" && write.op === "insert"
            ? { ...write, row: { ...write.row, createdAt: write.row.createdAt + peer.slot } }
            : write,
        ),
    }),
  },
  {
    name: "other-descriptor",
    changes: "the stored descriptor is not the one under the ref",
    finds: "S13",
    tampering: rows("approvers", (row) => ({ ...row, descriptor: `${row.descriptor} ` })),
  },
  {
    name: "miscount",
    changes: "the stored count of approvers is one too high",
    finds: "S13",
    tampering: rows("counters", (row) => ({ ...row, approvers: row.approvers + 1 })),
  },
  {
    name: "forgetful-root",
    changes: "one peer starts its registry root anew with every step",
    finds: "L3",
    tampering: () => ({
      stepped: (world, peer, { registry }) => {
        if (peer.slot === 2) Object.assign(registry, { set: world.ghost.crypto.emptySet });
      },
    }),
  },
  {
    name: "no-audit",
    changes: "proposals are applied without an audit row",
    finds: "S32",
    tampering: without((write) => write.table === "audit"),
  },
  {
    name: "token-in-audit",
    changes: "the bearer token of a request is stored in its audit row",
    finds: "S29",
    tampering: rows("audit", (row) =>
      row.actor?.jti === undefined ? row : { ...row, actor: { ...row.actor, sub: `${TOKEN_MARK}${row.actor.jti}` } },
    ),
  },
];
