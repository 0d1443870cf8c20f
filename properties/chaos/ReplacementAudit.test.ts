/** The verdict on replacements can fail: true records pass, and each lost, split or invented one planted is found. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Answer } from "../../core/Action.ts";
import { rejection, type RejectionCode } from "../../core/base/Rejection.ts";
import type { Rows } from "../../core/Tables.ts";
import { recordJson } from "../../server/http/ApproverRecord.ts";
import { metadataPath } from "../../core/commands/replaceMetadata/Replacement.ts";
import type { Said } from "../../sim/requests/Said.ts";
import { registered, rows } from "../cluster/Replacing.ts";
import { audit, type Evidence } from "./Audit.ts";
import type { Asked, Moment } from "./History.ts";
import { evidenceOf, idOf, tokenOf, withPeer } from "./Recorded.ts";

type Approver = Rows["approvers"];

/** A cluster whose approver is replaced once through peer 3, while a rival through peer 2 comes too late. */
const replaced = () => {
  const { cluster, ref } = registered();
  const askedAt = cluster.committed.length;
  cluster.replace(3, "won", ref, '"1"', { team: "b" });
  cluster.pass(3_000);
  cluster.replace(2, "lost", ref, '"1"', { team: "c" });
  cluster.pass(3_000);
  const first = cluster.answers.get("first");
  const won = cluster.answers.get("won");
  if (first?._tag !== "Registered" || won?._tag !== "Replaced") throw new Error("alice was to be replaced");
  return { cluster, ref, askedAt, first: first.approver, won: won.approver };
};

const { cluster, ref, askedAt, first, won } = replaced();
const end = cluster.committed.length;
const { descriptor } = first;
const shown = (approver: Approver): string => recordJson({ approver, observations: undefined });

const digestOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const { publicKey64 } = JSON.parse(descriptor);
const registering = JSON.stringify({
  id: "alice",
  credential: { type: "SIGNATURE", algorithm: "ED25519", publicKey64 },
  metadata: { team: "a" },
});

const said: Said = {
  keyOf: (descriptor) => descriptor,
  byBody: (digest) => (digest === digestOf(registering) ? { id: "alice", team: "a", descriptor } : undefined),
  replacementOf: (path, digest, ifMatch) =>
    path === metadataPath(ref) && ifMatch === '"1"' && digest === digestOf('{"metadata":{"team":"b"}}')
      ? { ref, team: "b" }
      : undefined,
  tokenOf: (jti) => {
    const known = tokenOf(jti);
    const permissions = ["service.approvers.register", "service.approvers.metadata"];
    return known && { ...known, claims: { ...known.claims, permissions } };
  },
};

const registration: Asked = {
  requestId: "r1",
  slot: 1,
  said: { kind: "REGISTER", id: "alice", descriptor, keyName: descriptor, team: "a" },
  token: "good",
  at: 0,
};
const asking = (requestId: string, team: string, more: Partial<Asked> = {}): Asked => ({
  requestId,
  slot: 3,
  said: { kind: "METADATA", ref, ifMatch: '"1"', team },
  token: "good",
  at: askedAt + 0.1,
  ...more,
});
const winner = asking("r2", "b");
const loser = asking("r3", "c", { slot: 2 });

const sent = (asked: Asked): Moment => ({ _tag: "Asked", at: asked.at, asked });
const told = (asked: Asked, answer: Answer, at = end): Moment => ({
  _tag: "Replied",
  at,
  asked,
  answer,
  body: answer._tag === "Replaced" || answer._tag === "Registered" ? shown(answer.approver) : "",
});
const success = (approver: Approver): Answer => ({ _tag: "Replaced", approver });
const refusal = (code: RejectionCode): Answer => ({ _tag: "Rejected", rejection: rejection(code, "", "") });
const readOf = (
  slot: number,
  found: Approver | undefined,
  body = found === undefined ? "" : shown(found),
  from = end + 0.5,
): Moment => ({
  _tag: "Read",
  at: end + 1,
  from,
  slot,
  ref,
  found,
  body,
});

const begun = [
  sent(registration),
  told(registration, { _tag: "Registered", created: true, approver: first, observations: undefined }, askedAt),
];
const won3 = [...begun, sent(winner), told(winner, success(won))];
const whole = [...won3, sent(loser), told(loser, refusal("PRECONDITION_FAILED")), readOf(1, won), readOf(2, won)];

const evidence = (moments: ReadonlyArray<Moment>, more: Partial<Evidence> = {}): Evidence =>
  evidenceOf(cluster, { moments, said, ...more });
const id = (...moments: ReadonlyArray<Moment>): string | undefined => idOf(evidence(moments));

describe("the verdict on replacements", () => {
  it("is green on true records", () => {
    expect(audit(evidence(whole)).violation).toBeUndefined();
    expect(rows(cluster, ref).map((row) => row?.metadata)).toEqual([[["team", "b"]], [["team", "b"]], [["team", "b"]]]);
  });

  it("finds a lost one: a member without it, a read of the revision before, and one told too early", () => {
    const without = withPeer(evidence(whole), 2, (all) =>
      all.map((each) => ({
        ...each,
        writes: each.writes.filter((write) => write.op !== "replace" || write.table !== "approvers"),
      })),
    );
    expect(idOf(evidence(whole, { peers: without }))).toBe("S14");
    expect(id(...won3, readOf(2, first))).toBe("S25");
    expect(id(...won3, readOf(2, undefined))).toBe("S25");
    expect(id(...begun, sent(winner), told(winner, success(won), askedAt + 0.5))).toBe("S14");
  });

  it("takes a read for one of any time since its question, and of no other", () => {
    const during = (found: Approver | undefined, from: number): string | undefined =>
      id(...won3, readOf(2, found, undefined, from));
    expect(during(first, askedAt)).not.toBe("S25");
    expect(during(won, askedAt)).not.toBe("S25");
    expect(during(undefined, askedAt)).toBe("S25");
    expect(during({ ...won, revision: 3 }, askedAt)).toBe("S25");
    expect(during(first, end - 0.5)).toBe("S25");
  });

  it("finds a split one: two requests that made a revision, and one that is shown in two ways", () => {
    const twin = asking("r4", "b", { slot: 2 });
    expect(id(...won3, sent(twin), told(twin, success(won)))).toBe("S14");
    const other: Approver = { ...won, metadata: [["team", "c"]] };
    expect(id(...won3, sent(loser), told(loser, success(other)))).toBeDefined();
    expect(id(...won3, sent(loser), readOf(2, other))).toBeDefined();
    expect(id(...won3, readOf(2, won, shown(won).replace('"b"', '"c"')))).toBe("S12");
    expect(id(...won3, readOf(2, won, shown(won).replace(/"updatedAt":\d+/, '"updatedAt":1')))).toBe("S12");
  });

  it("finds one that nobody asked for, or that was asked for otherwise", () => {
    expect(idOf(evidence(whole, { said: { ...said, replacementOf: () => undefined } }))).toBeDefined();
    const cleared = asking("r2", "b", { said: { kind: "METADATA", ref, ifMatch: '"1"', team: undefined } });
    expect(id(...begun, sent(cleared), told(cleared, success(won)))).toBe("S14");
    const later = asking("r2", "b", { said: { kind: "METADATA", ref, ifMatch: '"2"', team: "b" } });
    expect(id(...begun, sent(later), told(later, success(won)))).toBe("S14");
    const forged = asking("r2", "b", { token: "forged" });
    expect(id(...begun, sent(forged), told(forged, success(won)))).toBe("S30");
  });

  it("finds a refusal that is untrue: stale with no rival, done all the same, or for another header", () => {
    const stale = refusal("PRECONDITION_FAILED");
    expect(id(...begun, sent(loser), told(loser, stale, askedAt + 0.5))).toBe("H1");
    expect(id(...begun, sent(winner), told(winner, stale, askedAt + 0.5), readOf(2, won))).toBe("H1");
    const bare = asking("r5", "c", { said: { kind: "METADATA", ref, ifMatch: undefined, team: "c" } });
    expect(id(...won3, sent(bare), told(bare, stale))).toBe("S14");
    expect(id(...won3, sent(bare), told(bare, refusal("PRECONDITION_REQUIRED")))).toBeUndefined();
    expect(id(...won3, sent(loser), told(loser, refusal("PRECONDITION_REQUIRED")))).toBe("S14");
  });
});
