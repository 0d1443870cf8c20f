/** The verdict on what a run leaves of keys can fail: true remains pass, and each leak and each remainder planted is found. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serialize } from "node:v8";
import { afterAll, describe, expect, it } from "vitest";
import { sharePlace } from "../../core/commands/keys/HeldShare.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { membershipOf } from "../../core/protocol/Topology.ts";
import { commitRequest } from "../../server/sqlite/WriterMessage.ts";
import { crypto, inUse } from "../cluster/Cluster.ts";
import { create, keyed, renew } from "../cluster/Keyed.ts";
import { type JournalRecord, transactionOf } from "./Journal.ts";
import { judgeRemains, type PeerRemains } from "./KeyRemains.ts";
import { framed, journalFile, secretsFile } from "./PortFiles.ts";
import { evidenceOf, tokenOf } from "./Recorded.ts";

/** A cluster that has made a key and refreshed it. */
const refreshed = () => {
  const cluster = keyed();
  create(cluster, 1, "made");
  cluster.pass(3_000);
  renew(cluster, 2, "renewed", "refresh", 1);
  cluster.pass(3_000);
  if (cluster.answers.get("renewed")?._tag !== "KeyMade") throw new Error("the key was to be refreshed");
  return cluster;
};

const cluster = refreshed();
const evidence = evidenceOf(cluster, {
  moments: [],
  said: { keyOf: (each) => each, byBody: () => undefined, replacementOf: () => undefined, tokenOf },
});
const folders: Array<string> = [];
afterAll(() => {
  for (const each of folders) rmSync(each, { recursive: true });
});

const vaultOf = (slot: number) => {
  const identity = cluster.keys.get(slot);
  if (identity === undefined) throw new Error(`there is no peer ${slot}`);
  return inUse(identity).shareVault;
};

const recordsOf = (slot: number): ReadonlyArray<JournalRecord> =>
  cluster.committed.flatMap(({ peerId, changes }, stamp) =>
    peerId === slot ? [{ stamp, ...commitRequest(changes) }] : [],
  );

/** The shares that a peer made, each of which was pending at first. */
const held = (slot: number): ReadonlyArray<Uint8Array> => {
  const { final, transactions } = evidence.peers[slot - 1] ?? {};
  const pinned = final?.store.get("topology", SELF);
  if (pinned === undefined || transactions === undefined) throw new Error(`peer ${slot} is no member`);
  const membership = membershipOf(crypto, pinned.topology);
  return transactions.flatMap(({ writes }) =>
    writes.flatMap((write) => {
      if (write.table !== "pending" || write.op === "remove") return [];
      const place = sharePlace(membership, slot, write.row);
      const opened = place && vaultOf(slot).open(place, write.row.box);
      return opened === undefined ? [] : [opened.expose()];
    }),
  );
};

const empty = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "custody-remains-"));
  folders.push(folder);
  return folder;
};

/** Everything as a run leaves it: journals, secrets as they were heard, and a database. */
const left = () => {
  const folder = empty();
  const peers = evidence.peers.map(({ slot, final }): PeerRemains => {
    const chaosFolder = join(folder, `peer-${slot}`, "chaos");
    const directory = join(folder, `peer-${slot}`, "data");
    for (const each of [chaosFolder, directory]) mkdirSync(each, { recursive: true });
    const framedAll = (all: ReadonlyArray<Uint8Array>): Buffer => Buffer.concat(all.map(framed));
    writeFileSync(join(chaosFolder, journalFile(1, 0)), framedAll(recordsOf(slot).map((each) => serialize(each))));
    writeFileSync(join(chaosFolder, secretsFile(1, 0)), framedAll(secrets.get(slot) ?? []));
    const rows = final.store.scan("shares", "", 100).map(({ row }) => row.box);
    writeFileSync(join(directory, "custody.db"), Buffer.concat(rows));
    return { slot, chaosFolder, directory, final: { ...final, shareVault: vaultOf(slot) } };
  });
  return { folder, peers };
};

const secrets = new Map([1, 2, 3].map((slot) => [slot, held(slot)] as const));
const [share = new Uint8Array(0)] = secrets.get(2) ?? [];

const verdictOn = ({ folder, peers }: ReturnType<typeof left>, answers: ReadonlyArray<string> = ["{}"]) =>
  judgeRemains(crypto, peers, { folder, answers });

describe("what a run leaves of keys", () => {
  it("is fine as it was, with every secret looked for", () => {
    const { violation, secrets: known, shares, looked } = verdictOn(left());
    expect(violation).toBeUndefined();
    // Two generations at three peers.
    expect([known, shares]).toEqual([6, 6]);
    expect(looked).toBeGreaterThan(10_000);
  });

  it.each([
    [
      "a log",
      (folder: string) =>
        writeFileSync(join(folder, "peer-1", "peer.log"), `made ${Buffer.from(share).toString("base64")}\n`),
    ],
    [
      "a database",
      (folder: string) =>
        writeFileSync(join(folder, "peer-3", "data", "custody.db-wal"), Buffer.concat([Buffer.alloc(4_096), share])),
    ],
  ])("is K5 where a share is in %s", (_, plant) => {
    const remains = left();
    plant(remains.folder);
    expect(verdictOn(remains).violation?.id).toBe("K5");
  });

  it("is K5 where a share is in an answer", () => {
    const answer = JSON.stringify({ detail: `share ${Buffer.from(share).toString("hex")} does not fit` });
    expect(verdictOn(left(), ["{}", answer]).violation?.id).toBe("K5");
  });

  it("is K5 where a share was stored of which nobody heard", () => {
    const remains = left();
    writeFileSync(join(remains.folder, "peer-2", "chaos", secretsFile(1, 0)), "");
    const { violation } = verdictOn(remains);
    expect([violation?.id, violation?.facts[1]]).toEqual(["K5", expect.stringContaining("never heard")]);
  });

  it("is K7 where a peer's vault does not open what it stored", () => {
    const { folder, peers } = left();
    const other = peers.map((peer) => ({ ...peer, final: { ...peer.final, shareVault: vaultOf(1) } }));
    expect(verdictOn({ folder, peers: other }).violation?.id).toBe("K7");
  });

  it("is K9 where the box of a share before a refresh is still in a file of the database", () => {
    const remains = left();
    const boxes = recordsOf(1).flatMap((record) =>
      transactionOf(record, 1).writes.flatMap((write) =>
        write.table === "shares" && write.op !== "remove" ? [write.row.box] : [],
      ),
    );
    writeFileSync(join(remains.folder, "peer-1", "data", "custody.db-wal"), boxes[0] ?? "");
    expect(verdictOn(remains).violation?.id).toBe("K9");
  });
});
