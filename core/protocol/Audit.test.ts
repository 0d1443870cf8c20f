import { describe, expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import type { Rows, Write } from "../Tables.ts";
import { protocolTables } from "./Tables.ts";
import { auditFounding, auditOperators } from "./Audit.ts";
import type { NumberedAct } from "./OperatorAct.ts";
import { membershipOf } from "./Topology.ts";

const numbered = (no: number, isKept: boolean): NumberedAct => ({
  no,
  isKept,
  act: {
    at: 1_800_000_000_000,
    call: "SEAL",
    actor: { iss: "https://issuer", sub: "olga", jti: "t1" },
    requestId: `r${no}`,
    request: { method: "POST", path: "/v1/custody/system/seal", bodyDigest: undefined },
    outcome: "ACCESS_DENIED",
    detail: "",
    times: 3,
  },
});

const auditOf = (writes: ReadonlyArray<Write>): ReadonlyArray<Rows["audit"]> =>
  writes.flatMap((write) => (write.table === "audit" && write.op === "insert" ? [write.row] : []));

describe("the audit of a peer", () => {
  it("begins with the founding, by name", () => {
    const cluster = founded();
    for (const peerId of [1, 2, 3]) {
      const row = cluster.row(peerId, "audit", "0000000000000001");
      expect(row).toMatchObject({ event: "CLUSTER_FOUNDED", actor: undefined, request: undefined, outcome: "APPLIED" });
      expect(row?.detail).toMatch(/^cluster [0-9a-f]{64} of peers 1, 2, 3$/);
    }
  });

  it.each([
    [61, /^cluster [0-9a-f]{64} of peers 65475, (?:\d{5}, ){59}65535$/],
    [62, /^cluster [0-9a-f]{64} of peers 65474, (?:\d{5}, ){58}65533 and 2 more$/],
    [64, /^cluster [0-9a-f]{64} of peers 65472, (?:\d{5}, ){58}65531 and 4 more$/],
  ])("names as many of %d members with the longest ids as its row takes", (total, names) => {
    const step = openStep(founded(), 1);
    const { topology } = step.membership;
    const members = topology.members.slice(0, 1).flatMap((member) =>
      Array.from({ length: total }, (_, index) => ({
        ...member,
        peerId: 65_535 - total + 1 + index,
        shareIndex: index + 1,
      })),
    );
    auditFounding(step, membershipOf(step.context.crypto, { ...topology, members }));
    expect(auditOf(step.finish(() => undefined).writes).map(({ detail }) => detail)).toEqual([
      expect.stringMatching(names),
    ]);
  });

  it("takes what operators did in, chained, and what was kept once", () => {
    const cluster = founded();
    const step = openStep(cluster, 1);
    const before = step.state.signed.audit;
    auditOperators(step, [numbered(4, true), numbered(5, false)]);
    auditOperators(step, [numbered(4, true), numbered(6, true)]);
    const rows = auditOf(step.finish(() => undefined).writes);
    expect(rows.map(({ requestId, seq }) => [requestId, seq])).toEqual([
      ["r4", before.seq + 1],
      ["r5", before.seq + 2],
      ["r6", before.seq + 3],
    ]);
    expect(rows[0]).toMatchObject({
      event: "SEAL",
      actor: { sub: "olga", jti: "t1" },
      outcome: "ACCESS_DENIED",
      times: 3,
      timestamp: 1_800_000_000_000,
      prevHash: before.hash,
    });
    const { crypto } = step.context;
    const [first, second] = rows;
    expect(first && second?.prevHash).toBe(first && crypto.digest("CUSTODY_AUDIT_V1", protocolTables.audit, first));
    expect(step.state.signed.audit).toMatchObject({ keptNo: 6, lastNo: 6 });
  });

  it("takes nothing in at a peer that is sealed, damaged or nobody yet", () => {
    for (const hinder of [
      (step: ReturnType<typeof openStep>) => void (step.draft("fitness").unsealed = false),
      (step: ReturnType<typeof openStep>) => void (step.draft("fitness").integrityFault = "peer/self"),
      (step: ReturnType<typeof openStep>) => void (step.draft("cluster").peer = undefined),
    ]) {
      const step = openStep(founded(), 1);
      hinder(step);
      auditOperators(step, [numbered(1, true)]);
      expect(step.finish(() => undefined).writes).toEqual([]);
    }
  });
});
