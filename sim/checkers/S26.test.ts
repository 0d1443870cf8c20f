/** What a restored peer has been told by the others when it takes the registry over. */
import { expect, it } from "vitest";
import { answers, cluster, offer, OTHER } from "../../properties/cluster/BeingRestored.ts";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import { declare, register } from "../../properties/cluster/Restoring.ts";
import type { Message } from "../../core/Message.ts";
import type { Write } from "../../core/Tables.ts";
import type { Ready } from "../../core/protocol/Message.ts";
import { SELF, slotKey } from "../../core/protocol/Tables.ts";
import { Ghost, maskOf } from "./Ghost.ts";
import { S26 } from "./S26.ts";

/** Of three members the second is restored, and one answers it otherwise than it does, if at all. */
const restoring = (altered: (ready: Ready) => Partial<Ready> | undefined) => (): void => {
  const cluster = founded();
  register(cluster, "alice", 7);
  const ghost = new Ghost(crypto, cluster.total);
  // Where so many have forgotten things, what it takes over is not judged.
  ghost.forgetful = ghost.everyone;
  const checker = S26(ghost);
  const peer = (decidedAt: number) => watched(cluster, 2, { decidedAt });
  cluster.tamper = (from, to, message) => {
    const at = cluster.now * 1_000;
    if (from === 2) checker.sent?.(peer(at), message, to, at);
    if (to !== 2) return message;
    const change = from === 3 && message._tag === "Ready" ? altered(message) : {};
    if (change !== undefined) checker.delivered?.(peer(at), { ...message, ...change } as Message, from, at);
    return message;
  };
  declare(cluster, 2);
  cluster.pass(6_000);
  const row = cluster.row(2, "restore", SELF);
  if (row === undefined || row.recovering) throw new TypeError("peer 2 was to be a member again");
  checker.written?.restore?.(peer(0), { op: "replace", table: "restore", key: SELF, row }, []);
};

it("takes the word of each that nothing is undecided there, or that it is restored too", () => {
  expect(restoring(() => ({}))).not.toThrow();
  expect(restoring(() => ({ mode: "recovering", uncommitted: 1 }))).not.toThrow();
});

const ANOTHER: Partial<Ready> = { registryRoot: "cd".repeat(32) as Ready["registryRoot"] };

it("asks for no registry of one that is restored too", () => {
  expect(restoring(() => ({ mode: "recovering", ...ANOTHER }))).not.toThrow();
});

it.each<readonly [string, Partial<Ready>]>([
  ["another root", ANOTHER],
  ["another number of approvers", { approvers: 2 }],
])("finds one that is a member again while others have said %s", (_what, change) => {
  expect(restoring(() => change)).toThrow("the others have said that they have different registries");
});

it.each<readonly [string, Partial<Ready> | undefined]>([
  ["has something undecided", { uncommitted: 1 }],
  ["joins", { mode: "joining" }],
  ["is sealed", { sealed: true }],
  ["has found damage", { integrityOk: false }],
  ["has no restore on record", { recorded: undefined }],
  ["answers another question", { nonce: "ab".repeat(32) as Ready["nonce"] }],
  ["says nothing", undefined],
])("finds one that is a member again while another %s", (_what, change) => {
  expect(restoring(() => change)).toThrow("peers 3 have not said");
});

/** Of three members the second takes over an aborted slot of the first; the third has said that it knows the tenth. */
const following =
  (seq: number, third: Partial<Ready> = {}, changed = 0) =>
  (): void => {
    const [first, other] = [answers.get(1), answers.get(3)];
    if (first === undefined || other === undefined) throw new TypeError("both others were to answer");
    const ghost = new Ghost(crypto, 3);
    ghost.recovering = maskOf(2);
    const checker = S26(ghost);
    const peer = watched(cluster, 2);
    const said = [first, { ...other, highSeq: 10, ...third }];
    for (const { nonce, peerId } of said) checker.sent?.(peer, { _tag: "ReadyProbe", nonce } as Message, peerId, 0);
    for (const ready of said) checker.delivered?.(peer, { _tag: "Ready", ...ready }, ready.peerId, 0);
    const { recoveryId, nonce } = offer;
    checker.sent?.(peer, { _tag: "SnapshotRequest", recoveryId, nonce, after: "", here: undefined }, 1, 0);
    const writes = (
      [
        ["APPLIED", changed],
        ["ABORTED", seq],
      ] as const
    ).map(([outcome, at]): Write => {
      const row = { proposalId: OTHER, outcome, ack: undefined, writerReceipt: undefined };
      return { op: "insert", table: "slots", key: slotKey(1, at), row };
    });
    for (const write of writes) if (write.table === "slots") checker.written?.slots?.(peer, write, writes);
  };

it("follows a helper by the window and a page past what another active member has said, or past a change", () => {
  const last = 10 + 256 + 16;
  expect(following(last)).not.toThrow();
  expect(following(last + 1)).toThrow("other active members have told peer 2 of slots up to 10");
  expect(following(last + 1, { highSeq: 11 })).not.toThrow();
  expect(following(last + 1, { mode: "joining" })).not.toThrow();
  expect(following(last + 1, {}, 11)).not.toThrow();
});
