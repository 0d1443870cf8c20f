import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { OperatorAct } from "../../core/protocol/OperatorAct.ts";
import { jsonLog } from "./Log.ts";
import { Metrics } from "./Metrics.ts";
import { OperatorAudit } from "./OperatorAudit.ts";

const act = (sub: string, outcome: string, requestId = "r"): OperatorAct => ({
  at: 1,
  call: "SEAL",
  actor: { iss: undefined, sub, jti: undefined },
  requestId,
  request: { method: "POST", path: "/v1/custody/system/seal", bodyDigest: undefined },
  outcome,
  detail: "",
  times: 1,
});

const open = (hasRoom = true, fails = false, seen: (act: OperatorAct) => void = () => undefined) => {
  const recorded: Array<string> = [];
  const lines: Array<string> = [];
  const audit = new OperatorAudit({
    record: (each) => {
      if (fails) return Promise.reject(new Error("the disk is full"));
      seen(each);
      recorded.push(`${each.actor.sub} ${each.outcome} x${each.times}`);
      return Promise.resolve();
    },
    hasRoom: () => hasRoom,
    log: jsonLog(
      "info",
      (line) => lines.push(line),
      () => 0,
    ),
    metrics: new Metrics(),
    now: () => 2,
  });
  return { audit, recorded, lines };
};

describe("what operators are refused", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is recorded at once the first time in a minute, and the rest of the minute as one", async () => {
    const { audit, recorded } = open();
    for (let times = 0; times < 100; times++) await audit.refused(act("mallory", "ACCESS_DENIED"));
    await audit.refused(act("mallory", "ALREADY_INITIALIZED"));
    await audit.refused(act("olga", "ACCESS_DENIED"));
    const firsts = ["mallory ACCESS_DENIED x1", "mallory ALREADY_INITIALIZED x1", "olga ACCESS_DENIED x1"];
    expect(recorded).toEqual(firsts);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(recorded).toEqual([...firsts, "mallory ACCESS_DENIED x99"]);
    await audit.refused(act("mallory", "ACCESS_DENIED"));
    expect(recorded).toHaveLength(5);
  });

  it("takes a bounded part of the disk, whoever asks under however many names", async () => {
    const { audit, recorded } = open();
    for (let name = 0; name < 500; name++) await audit.refused(act(`m${name}`, "ACCESS_DENIED"));
    expect(recorded).toHaveLength(16);
    await audit.flush();
    expect(recorded).toHaveLength(17);
    expect(recorded.at(-1)).toBe("m16 ACCESS_DENIED x484");
    const full = open(false);
    await full.audit.refused(act("mallory", "ACCESS_DENIED"));
    expect([full.recorded, full.lines.length]).toEqual([[], 1]);
  });

  it("names each key of failed repairs, up to the same bound, and none of those that the caller may not have", async () => {
    const paths: Array<string> = [];
    const { audit, recorded } = open(true, false, (each) => paths.push(each.request.path));
    const repair = (outcome: string, key: number): OperatorAct => ({
      ...act("olga", outcome),
      call: "REPAIR",
      request: { method: "POST", path: `/v1/custody/keys/k${key}/repair`, bodyDigest: undefined },
    });
    for (let key = 1; key <= 40; key++) await audit.refused(repair("ACCESS_DENIED", key));
    for (let key = 1; key <= 3; key++)
      for (let times = 0; times < 2; times++) await audit.refused(repair("REPAIR_FAILED", key));
    expect(paths).toEqual([1, 1, 2, 3].map((key) => `/v1/custody/keys/k${key}/repair`));
    for (let key = 4; key <= 40; key++) await audit.refused(repair("REPAIR_FAILED", key));
    expect(recorded).toHaveLength(16);
    await audit.flush();
    expect(recorded.slice(16)).toEqual([
      "olga ACCESS_DENIED x39",
      ...[1, 2, 3].map(() => "olga REPAIR_FAILED x1"),
      "olga REPAIR_FAILED x25",
    ]);
  });

  it("stands where it cannot be recorded, and is in the log", async () => {
    const { audit, lines } = open(true, true);
    await audit.refused(act("mallory", "ACCESS_DENIED"));
    expect(lines.join("")).toMatch(/mallory[^]*the disk is full/);
    await expect(audit.done(act("olga", "APPLIED"), false)).rejects.toThrow("the disk is full");
    await expect(audit.done(act("olga", "APPLIED"), true)).resolves.toBeUndefined();
  });

  it("is told without a name, once a minute, where no token held", async () => {
    const { audit, recorded, lines } = open();
    for (let times = 0; times < 10; times++) audit.unauthenticated("SEAL");
    await audit.flush();
    expect(recorded).toEqual([]);
    expect(lines.map((line) => (JSON.parse(line) as { readonly times: number }).times)).toEqual([1, 9]);
  });
});
