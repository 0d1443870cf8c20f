import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { Limits } from "../../base/Limits.ts";
import { commitmentsOf, PlayedCoordinator } from "../../../properties/cluster/SigningByHand.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import { keyTables } from "../keys/Tables.ts";
import { onConsentsTimer } from "./Consents.ts";
import { signings } from "./SigningState.ts";

const data = utf8ToBytes("pay 5");
const one = commitmentsOf(1);
const HOUR = Limits.consentRetentionMillis;

const consented = () => {
  const played = new PlayedCoordinator();
  const open = played.open("a", data);
  const own = played.committed("a", data);
  played.hear(played.package("a", data, [one, own]));
  expect(played.consents).toBe(1);
  return { played, open };
};

describe("a consent", () => {
  it("is a row and an audit row of one transaction, with the bearer and the call", () => {
    const { played } = consented();
    const { cluster } = played;
    const tables = cluster.committed.at(-1)?.changes.map(({ table }) => table);
    expect(tables).toEqual(expect.arrayContaining(["consents", "audit"]));
    const [operation = ""] = cluster.tables.get(2)?.get("consents")?.keys() ?? [];
    expect(cluster.row(2, "consents", operation)).toMatchObject({ keyId: "payments", generation: 1, coordinator: 1 });
    const last = [...(cluster.tables.get(2)?.get("audit")?.keys() ?? [])].toSorted().at(-1) ?? "";
    expect(cluster.row(2, "audit", last)).toMatchObject({
      event: "SIGN_CONSENTED",
      outcome: "CONSENTED",
      keyId: "payments",
      generation: 1,
      actor: { sub: "operator" },
      entryPeer: 1,
      request: { method: "POST", path: "/v1/custody/keys/payments/sign" },
      detail: `operation ${operation}`,
    });
  });

  it("serves another attempt of the same operation, and is given once", () => {
    const { played, open } = consented();
    const { length } = played.cluster.committed;
    const own = played.committed("b", data, { timestamp: open.timestamp, expiresAt: open.expiresAt });
    expect(played.hear(played.package("b", data, [one, own]))).toMatchObject({ _tag: "Sign.Share" });
    expect(played.consents).toBe(1);
    expect(played.cluster.committed.length).toBe(length);
  });

  it("goes an hour after its deadline, and not before", () => {
    const { played, open } = consented();
    played.cluster.pass(open.expiresAt + HOUR - played.now);
    expect(played.consents).toBe(1);
    played.cluster.pass(130_000);
    expect(played.consents).toBe(0);
    expect(played.cluster.row(2, "consentFloor", "self")).toEqual({ expiresAt: open.expiresAt });
  });

  it("is not given again for an operation whose row is gone, however the clock is set then", () => {
    const { played, open } = consented();
    played.cluster.clockOffset += HOUR + 61_000;
    played.cluster.pass(61_000);
    expect(played.consents).toBe(0);
    played.cluster.clockOffset = open.timestamp + 30_000 - played.cluster.now;
    expect(played.now).toBeLessThan(open.expiresAt);
    const { timestamp, expiresAt } = open;
    const refused = played.hear(played.open("b", data, { timestamp, expiresAt }));
    expect(refused).toMatchObject({ _tag: "Sign.Refused", code: "EXPIRED" });
    played.cluster.start(2);
    played.cluster.pass(1_000);
    expect(played.hear(played.open("c", data, { timestamp, expiresAt }))).toMatchObject({ code: "EXPIRED" });
    // What is new has a later deadline.
    expect(played.hear(played.open("d", data, { expiresAt: expiresAt + 1 }))).toMatchObject({ _tag: "Sign.Commit" });
  });

  it("is looked for among many rows a part at a time", () => {
    const { played, open } = consented();
    const { cluster } = played;
    const [operation = ""] = cluster.tables.get(2)?.get("consents")?.keys() ?? [];
    const row = cluster.row(2, "consents", operation);
    if (row === undefined) throw new Error("there is no consent");
    const many = Array.from({ length: 600 }, (_, at) => at.toString(16).padStart(64, "0"));
    cluster.write(
      2,
      many.map((key) => ({ op: "insert", table: "consents", key, row })),
    );
    const step = openStep(cluster, 2, open.expiresAt + HOUR + 1, 0);
    onConsentsTimer(step);
    const removed = step.finish(() => undefined).writes.filter(({ op }) => op === "remove");
    expect(removed).toHaveLength(512);
    expect(step.slice(signings).sweep.get("after")).toBe(many[511]);
    expect(step.rows(keyTables).current("consentFloor", "self")).toEqual({ expiresAt: open.expiresAt });
  });
});
