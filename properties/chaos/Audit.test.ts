/** The verdict on real peers can fail: a cluster's true records pass, and each contradiction planted in them is found. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { PublicKey } from "../../core/base/Digest.ts";
import { rejection, type RejectionCode } from "../../core/base/Rejection.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { recordJson } from "../../server/http/ApproverRecord.ts";
import type { Said } from "../../sim/requests/Said.ts";
import { Cluster } from "../cluster/Cluster.ts";
import { audit, type Evidence } from "./Audit.ts";
import type { Asked, Moment } from "./History.ts";
import { evidenceOf, idOf, tokenOf, withPeer } from "./Recorded.ts";

const descriptorOf = (publicKey64: string): string =>
  JSON.stringify({ algorithm: "ED25519", publicKey64, type: "SIGNATURE", version: 1 });

/** A cluster that has registered alice through peer 3, with what its caller saw. */
const registered = () => {
  const cluster = new Cluster(3);
  cluster.pass(2_000);
  const askedAt = cluster.committed.length;
  cluster.register(3, "core-1", "alice", 7);
  cluster.pass(3_000);
  const answer = cluster.answers.get("core-1");
  if (answer?._tag !== "Registered") throw new Error("alice was to be registered");
  return { cluster, askedAt, answer, ref: answer.approver.ref };
};

const shared = registered();
const { answer, ref } = shared;
const { descriptor } = answer.approver;
const body = recordJson(answer);
const asked: Asked = {
  requestId: "r1",
  slot: 3,
  said: { kind: "REGISTER", id: "alice", descriptor, keyName: descriptor, team: "a" },
  token: "good",
  at: shared.askedAt,
};

const said: Said = {
  keyOf: (descriptor) => descriptor,
  byBody: (bodyDigest) => {
    const publicKey64 = JSON.parse(descriptor).publicKey64;
    const credential = { type: "SIGNATURE", algorithm: "ED25519", publicKey64 };
    const text = JSON.stringify({ id: "alice", credential, metadata: { team: "a" } });
    const digest = createHash("sha256").update(text).digest("hex");
    return digest === bodyDigest ? { id: "alice", team: "a", descriptor: descriptorOf(publicKey64) } : undefined;
  },
  replacementOf: () => undefined,
  tokenOf,
};

const end = shared.cluster.committed.length;
const sent: Moment = { _tag: "Asked", at: asked.at, asked };
const replied: Moment = { _tag: "Replied", at: end, asked, answer, body };
const read: Moment = { _tag: "Read", at: end + 1, from: end, slot: 2, ref, found: answer.approver, body };

const evidence = (more: Partial<Evidence> = {}, cluster = shared.cluster): Evidence =>
  evidenceOf(cluster, { moments: [sent, replied, read], said, ...more });

const withPeer3 = (change: Parameters<typeof withPeer>[2]) => withPeer(evidence(), 3, change);

const refused = (who: Asked, code: RejectionCode): Moment => ({
  ...replied,
  asked: who,
  answer: { _tag: "Rejected", rejection: rejection(code, "", "") },
  body: "",
});

describe("the verdict", () => {
  it("is green on true records, and says what it looked at", () => {
    const verdict = audit(evidence());
    expect(verdict.violation).toBeUndefined();
    expect(verdict.transactions).toBe(end);
    expect(verdict.checked).toEqual(expect.arrayContaining(["S1", "S3", "S7", "S13", "S14", "S30", "L1", "L3", "L8"]));
    for (const inside of ["S2", "S18", "S23", "S28", "S34"]) expect(verdict.checked).not.toContain(inside);
  });

  it("finds a peer that runs all the time and does not answer (L10)", () => {
    const unanswered: Moment = { _tag: "Unanswered", at: 20_000_000, from: 5_000_000, slot: 2, what: "read" };
    const up = (at: number, slot = 2): Moment => ({ _tag: "Up", at, slot });
    const down = (at: number, slot = 2): Moment => ({ _tag: "Down", at, slot });
    const id = (...moments: ReadonlyArray<Moment>): string | undefined => idOf(evidence({ moments }));
    expect(id(up(0), unanswered)).toBe("L10");
    expect(id(up(0), down(1_000_000), up(2_000_000), unanswered)).toBe("L10");
    expect(id(up(0), up(0, 1), down(6_000_000, 1), unanswered)).toBe("L10");
    expect(id(up(0), down(6_000_000), unanswered)).toBeUndefined();
    expect(id(up(0), down(1_000_000), unanswered)).toBeUndefined();
    expect(id(up(0), down(1_000_000), up(6_000_000), unanswered)).toBeUndefined();
  });

  it("finds a success whose approver one member never stored", () => {
    const peers = withPeer3((all) =>
      all.map((each) => ({ ...each, writes: each.writes.filter(({ table }) => table !== "approvers") })),
    );
    expect(idOf(evidence({ peers }))).toBe("S14");
  });

  it("finds a success that was told before every member had it", () => {
    const last = evidence().peers[1]?.transactions.find(({ writes }) =>
      writes.some(({ table }) => table === "approvers"),
    );
    expect(idOf(evidence({ moments: [{ ...replied, at: (last?.stamp ?? 0) - 0.5 }] }))).toBe("S14");
  });

  it("finds a success of another approver, of a forged token, and a second creation", () => {
    const other: Asked = {
      ...asked,
      said: { kind: "REGISTER", id: "bob", descriptor, keyName: descriptor, team: "a" },
    };
    expect(idOf(evidence({ moments: [{ ...replied, asked: other }] }))).toBe("S14");
    expect(idOf(evidence({ moments: [{ ...replied, asked: { ...asked, token: "forged" } }] }))).toBe("S30");
    const again: Moment = { ...replied, asked: { ...asked, requestId: "r2" } };
    expect(idOf(evidence({ moments: [replied, again] }))).toBe("S14");
  });

  it("finds a success that came while a member was down", () => {
    const down: Moment = { _tag: "Down", at: asked.at - 1, slot: 2 };
    expect(idOf(evidence({ moments: [down, replied] }))).toBe("L8");
    const up: Moment = { _tag: "Up", at: asked.at - 0.5, slot: 2 };
    expect(idOf(evidence({ moments: [down, up, replied] }))).toBeUndefined();
  });

  it("finds a conflict with an owner that nobody knows", () => {
    const conflict = (id: string): Moment =>
      refused(
        { ...asked, requestId: "r2", said: { kind: "REGISTER", id, descriptor, keyName: descriptor, team: "a" } },
        "KEY_ALREADY_REGISTERED",
      );
    expect(idOf(evidence({ moments: [conflict("mallory")] }))).toBeUndefined();
    expect(idOf(evidence({ moments: [conflict("alice")] }))).toBe("S14");
  });

  it("finds a read that misses what was promised, and a record that looks otherwise", () => {
    expect(idOf(evidence({ moments: [{ ...read, found: undefined, body: "" }] }))).toBe("S25");
    const changed = body.replace('"team":"a"', '"team":"b"');
    expect(idOf(evidence({ moments: [{ ...read, body: changed }] }))).toBe("S12");
  });

  it("finds a row that was deleted, one that was added, and a transaction that no process wrote", () => {
    for (const change of [
      (tables: MemoryTables) => tables.get("keys")?.clear(),
      (tables: MemoryTables) => tables.get("keys")?.set("stranger", { row: Uint8Array.of(1), seal: Uint8Array.of(1) }),
    ]) {
      const { peers } = evidence();
      for (const { slot, final } of peers) if (slot === 2) change(final.tables);
      expect(idOf(evidence({ peers }))).toBe("STORE");
    }
    const peers = withPeer3((all) => all.filter(({ number }) => number !== 1));
    expect(idOf(evidence({ peers }))).toBe("STORE");
  });

  it("finds a member that has a proposal open at the end", () => {
    const cluster = new Cluster(3);
    cluster.pass(2_000);
    cluster.tamper = (_from, to, message) => (to === 2 && message._tag === "Commit" ? undefined : message);
    cluster.register(3, "core-1", "alice", 7);
    cluster.pass(300);
    expect(idOf(evidence({ moments: [] }, cluster))).toBe("L1");
  });

  it("finds a secret in a log, and a peer that stayed sealed", () => {
    expect(idOf(evidence({ logLines: ["token bearer-secret-1 refused"] }))).toBe("S29");
    const peers = evidence().peers.map((each) => ({ ...each, unsealed: each.slot !== 2 }));
    expect(idOf(evidence({ peers }))).toBe("L5");
  });

  it("finds that a request was done whose caller was told that it was not (H1)", () => {
    const other: Asked = {
      ...asked,
      requestId: "r2",
      said: { kind: "REGISTER", id: "alice", descriptor, keyName: descriptor, team: "b" },
    };
    // Its own metadata is not what it is shown, so the first request has made it.
    const again: ReadonlyArray<Moment> = [
      { ...sent, asked: other },
      { ...replied, asked: other, answer: { ...answer, created: false } },
    ];
    expect(idOf(evidence({ moments: [sent, ...again] }))).toBeUndefined();
    // Under a name that no peer knows: what a peer may tell a request that it signed for is another matter (S14).
    const first: Asked = { ...asked, requestId: "r0" };
    const moments = [{ ...sent, asked: first }, refused(first, "SEALED"), ...again];
    expect(idOf(evidence({ moments }))).toBe("H1");
  });

  it("sees at each moment the rows of that moment: a later integrity key seals nothing of before", () => {
    const { cluster } = registered();
    cluster.peers.get(3)?.dispatch({
      _tag: "RotateIntegrity",
      requestId: "r2",
      publicKey: "22".repeat(32) as PublicKey,
      blob: Uint8Array.of(1),
    });
    expect(cluster.answers.get("r2")).toMatchObject({ _tag: "Rotated", version: 2 });
    const up: Moment = { _tag: "Up", at: 0, slot: 3 };
    expect(audit(evidence({ moments: [up] }, cluster)).violation).toBeUndefined();
  });
});
