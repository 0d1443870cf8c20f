/** The lies of a writer, in place of its proposal, by the names that transcripts give them. */
import type { Digest } from "../../core/base/Digest.ts";
import type { PrepareItem } from "../../core/protocol/Message.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import { altered } from "../cluster/AlteredEffects.ts";
import type { Cluster } from "../cluster/Cluster.ts";
import { receiptOfWriter } from "../cluster/Forging.ts";

const OTHER = "ab".repeat(32) as Digest;
const another = (change: (proposal: Proposal) => Partial<Proposal>) => (item: PrepareItem) => ({
  proposal: { ...item.proposal, ...change(item.proposal) },
});

/** @param before what it proposed last, if that is another proposal */
type Lie = (item: PrepareItem, before: PrepareItem) => Partial<PrepareItem>;

const lies: { readonly [name: string]: Lie } = {
  // Fields that it may choose, but only once.
  "an earlier deadline": another(({ expiresAt }) => ({ expiresAt: expiresAt - 1 })),
  "slot 1": another(() => ({ seq: 1 })),
  // Fields that members derive themselves.
  "other metadata": ({ proposal }) => ({ proposal: altered(proposal, { metadata: [["team", "z"]] }) }),
  "another kind": another(() => ({ kind: "METADATA" })),
  "another actor": another(() => ({ actor: { iss: undefined, sub: "mallory", jti: undefined } })),
  "another body": another(({ request }) => ({ request: { ...request, bodyDigest: OTHER } })),
  "another entry peer": another(({ entryPeer }) => ({ entryPeer: entryPeer === 3 ? 2 : 3 })),
  "a body that nobody sent": ({ evidence }) => ({
    evidence: { ...evidence, call: { ...evidence.call, rawBody: Uint8Array.of(123, 125) } },
  }),
  "another configuration": another(() => ({ configDigest: OTHER })),
  "another incarnation of peer 2": another(({ incarnations }) => ({
    incarnations: incarnations.map((each, index) => (index === 1 ? each + 1 : each)),
  })),
  "a deadline beyond a minute": another(({ proposedAt }) => ({ expiresAt: proposedAt + 60_001 })),
  "a time six seconds ahead": another(({ proposedAt }) => ({ proposedAt: proposedAt + 6_000 })),
  "what it proposed before, in slot 9": (_item, before) => ({ ...before, proposal: { ...before.proposal, seq: 9 } }),
  "a request of two minutes ago": ({ evidence }) => ({
    evidence: { ...evidence, receivedAt: evidence.receivedAt - 120_000 },
  }),
  // Proposals that get no answer.
  "another cluster": another(() => ({ clusterId: OTHER })),
  "another epoch": another(() => ({ epoch: 2 })),
  "another writer": another(() => ({ writer: 2 })),
  "slot 1000": another(() => ({ seq: 1_000 })),
  "a receipt that does not hold": ({ receipt }) => ({
    receipt: { ...receipt, signature: "00".repeat(64) as SignedStatement["signature"] },
  }),
};

/** The item with a lie in it, and with a receipt of the writer for the altered proposal. */
export const lied = (cluster: Cluster, name: string, item: PrepareItem, before = item): PrepareItem => {
  const lie = lies[name];
  if (lie === undefined) throw new Error(`there is no lie "${name}"`);
  const changed = { ...item, ...lie(item, before) };
  if (changed.proposal === item.proposal) return changed;
  return { ...changed, receipt: receiptOfWriter(cluster, changed.proposal, item.receipt) };
};
