import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Digest } from "../../core/base/Digest.ts";
import { commands } from "../../core/commands/Commands.ts";
import { boot } from "../../core/protocol/Boot.ts";
import { numberKey } from "../../core/protocol/Tables.ts";
import type { StateFields } from "../../core/protocol/StateFields.ts";
import { auditChain, auditCrypto } from "../../properties/AuditChains.ts";
import { changed } from "../../properties/cluster/Changed.ts";
import type { AuditReadPorts, AuditRow } from "../../runtime/AuditReads.ts";
import { AuditChain } from "./AuditChain.ts";
import { AuditSink } from "./AuditSink.ts";
import { SinkPositions } from "./SinkPositions.ts";
import type { SinkTarget } from "./SinkTargets.ts";

const blank = boot({ get: () => undefined, scan: () => [] }, auditCrypto, commands, 0);

/** A peer with these rows; the last so many are not published yet. */
const readingOf = (rows: ReadonlyArray<AuditRow>, { unsealed = true, unpublished = 0 } = {}): AuditReadPorts => {
  const { row, hash } = rows[rows.length - 1 - unpublished] ?? {};
  const fields = {
    peer: { peerId: 1 },
    unsealed,
    audit: { seq: row?.seq ?? 0, hash: hash ?? ("0".repeat(64) as Digest), keptNo: 0, lastNo: 0 },
  } as unknown as Partial<StateFields>;
  const scan = (_table: string, after: string, limit: number) =>
    rows
      .map((each) => ({ key: numberKey(each.row.seq), row: each.row }))
      .filter(({ key }) => key > after)
      .slice(0, limit);
  const view = { get: () => undefined, scan: scan as never };
  return { view, state: changed(blank, fields), crypto: auditCrypto, integrityLost: () => undefined };
};

let folder: string;
let written: Array<string>;
let logs: Array<string>;
let failures: number;
let reading: AuditReadPorts;
let refuses: Error | undefined;
let running: AuditSink | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-audit-sink-"));
  [written, logs, failures, refuses] = [[], [], 0, undefined];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await running?.stop(1_000);
  rmSync(folder, { recursive: true, force: true });
});

const target: SinkTarget = {
  write: async (text) => {
    if (refuses !== undefined) throw refuses;
    written.push(text);
  },
  close: () => Promise.resolve(),
};

const started = async (): Promise<AuditSink> => {
  const positions = await SinkPositions.open(folder, () => undefined);
  const log = (event: string, fields: object = {}): void => void logs.push(`${event} ${JSON.stringify(fields)}`);
  const sink = new AuditSink({
    name: "file",
    target,
    positions,
    reading: () => reading,
    log: { warn: log, info: log },
    failed: () => {
      failures += 1;
    },
  });
  running = sink;
  sink.start();
  return sink;
};
const restarted = async (meanwhile = (): void => undefined): Promise<AuditSink> => {
  vi.useRealTimers();
  await running?.stop(1_000);
  meanwhile();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  return started();
};

/** The sequence numbers written so far, each an event of the chain. */
const seqs = (): ReadonlyArray<number> =>
  written
    .join("")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => Number(Reflect.get(Object(Reflect.get(Object(JSON.parse(line)), "data")), "seq")));
const upTo = (count: number, from = 1) => Array.from({ length: count - from + 1 }, (_, at) => from + at);
/** Lets what is under way go on, and the sink look again. */
const look = async (millis = 1_000): Promise<void> => {
  await vi.advanceTimersByTimeAsync(millis);
  for (let times = 0; times < 60; times++) await new Promise((resolve) => void setImmediate(resolve));
};
const settled = (check: () => void) => vi.waitFor(check, { timeout: 5_000, interval: 5 });

it("gets every event once and in order, those that come later too, as a whole chain", async () => {
  reading = readingOf(auditChain(100));
  const sink = await started();
  await settled(() => expect(seqs()).toEqual(upTo(100)));
  reading = readingOf(auditChain(100));
  await look();
  expect(seqs()).toEqual(upTo(100));
  expect([sink.fault, sink.behind, failures]).toEqual([undefined, 0, 0]);
  const chain = new AuditChain(auditCrypto);
  for (const line of written.join("").trimEnd().split("\n")) expect(chain.take(JSON.parse(line))).toBeUndefined();
});

it("gets no event before it is published, which is when it is durable", async () => {
  const rows = auditChain(10);
  reading = readingOf(rows, { unpublished: 3 });
  await started();
  await settled(() => expect(seqs()).toEqual(upTo(7)));
  await look();
  expect(seqs()).toEqual(upTo(7));
  reading = readingOf(rows);
  await look();
  await settled(() => expect(seqs()).toEqual(upTo(10)));
});

it("goes on after a start where it was, and repeats what may not have been taken", async () => {
  const rows = auditChain(20);
  reading = readingOf(rows, { unpublished: 8 });
  await started();
  await settled(() => expect(seqs()).toEqual(upTo(12)));
  reading = readingOf(rows);
  await restarted();
  await settled(() => expect(seqs()).toEqual(upTo(20)));
  await restarted(() => rmSync(join(folder, "audit-sinks.json")));
  await settled(() => expect(seqs()).toEqual([...upTo(20), ...upTo(20)]));
});

it("holds nothing up while its disk is full: it warns, counts, and goes on by itself with no event lost", async () => {
  refuses = Object.assign(new Error("no space"), { code: "ENOSPC" });
  reading = readingOf(auditChain(5));
  const sink = await started();
  await settled(() => expect(failures).toBe(1));
  expect(sink.fault).toBe(
    "audit.sinks.file: nothing is written (ENOSPC); make room or mend it, and it goes on by itself",
  );
  expect(sink.behind).toBe(5);
  await look(5_000);
  await settled(() => expect(failures).toBe(2));
  // Told once, however long it lasts.
  expect(logs).toEqual([expect.stringMatching(/^audit sink .*"ENOSPC"/)]);
  refuses = undefined;
  await look(5_000);
  await settled(() => expect(seqs()).toEqual(upTo(5)));
  await settled(() => expect([sink.fault, sink.behind]).toEqual([undefined, 0]));
  expect(logs[1]).toMatch(/^audit sink goes on/);
});

it("waits for the unseal", async () => {
  reading = readingOf(auditChain(3), { unsealed: false });
  const sink = await started();
  await look();
  expect([seqs(), sink.fault, sink.behind]).toEqual([[], undefined, 3]);
  reading = readingOf(auditChain(3));
  await look();
  await settled(() => expect(seqs()).toEqual(upTo(3)));
});

it.each([
  ["shorter", auditChain(4)],
  // Of twenty events the sixth has another hash than of ten.
  ["another", auditChain(20)],
] as const)("writes all anew, and says so, where the audit is %s than what it has", async (_name, other) => {
  reading = readingOf(auditChain(10));
  await started();
  await settled(() => expect(seqs()).toEqual(upTo(10)));
  reading = readingOf(other);
  await restarted();
  await settled(() => expect(seqs()).toEqual([...upTo(10), ...upTo(other.length)]));
  expect(logs).toEqual([expect.stringContaining("all is written anew")]);
});
