/** `custody audit` as its caller sees it, against a scripted peer and against files that were changed. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { auditChain, auditEvents } from "./AuditChains.ts";
import { type FakeService, fakeService, jsonReply, type Received, type Reply } from "./cli/FakeService.ts";
import { runInProcess } from "./cli/InProcess.ts";

const COUNT = 9;
const rows = auditChain(COUNT);
const events = auditEvents(COUNT);
const place = (seq: number): string => `${seq}:${rows[seq - 1]?.hash}`;
const env = { CUSTODY_TOKEN: "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ0ZXN0In0.c2lnbmF0dXJl" };

let folder: string;
const file = (name: string): string => join(folder, name);
const lines = (values: ReadonlyArray<unknown>): string => values.map((each) => `${JSON.stringify(each)}\n`).join("");
const saved = (values: ReadonlyArray<unknown> | string): string => {
  const path = file("audit.jsonl");
  writeFileSync(path, typeof values === "string" ? values : lines(values));
  return path;
};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-audit-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Answers as a peer with these events does, in pages of at most four. */
const pages =
  (all: ReadonlyArray<unknown>, peerId = 1) =>
  ({ path }: Received): Reply => {
    const query = new URL(path, "http://peer").searchParams;
    const since = Number(query.get("since"));
    const page = all.slice(since - 1, since - 1 + Math.min(4, Number(query.get("limit"))));
    const hash: unknown = Reflect.get(Object(Reflect.get(Object(all.at(-1)), "data")), "hash");
    return jsonReply(200, { peerId, events: page, next: since + page.length, head: { seq: all.length, hash } });
  };

const against = async (reply: (request: Received) => Reply, args: ReadonlyArray<string>) => {
  const service: FakeService = await fakeService(reply);
  try {
    return { ...(await runInProcess(args, { ...env, CUSTODY_URL: service.url })), received: service.received };
  } finally {
    await service.close();
  }
};
const verify = (...args: ReadonlyArray<string>) => runInProcess(["audit", "verify", ...args], env);

describe("custody audit export", () => {
  it("prints every event on a line, page by page", async () => {
    const { code, stdout, stderr, received } = await against(pages(events), ["audit", "export"]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: lines(events), stderr: "" });
    expect(received.map(({ path }) => path)).toEqual(
      [1, 5, 9].map((since) => `/v1/custody/audit?since=${since}&limit=1000`),
    );
  });

  it("begins and ends where it is told, and writes a new file for this user alone", async () => {
    const out = file("out.jsonl");
    const args = ["audit", "export", "--since", "3", "--limit", "5", "--out", out];
    const { code, stdout, stderr } = await against(pages(events), args);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: `5 events, up to ${place(7)}\n` });
    expect(readFileSync(out, "utf8")).toBe(lines(events.slice(2, 7)));
    expect(statSync(out).mode & 0o777).toBe(0o600);
    const again = await against(pages(events), args);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("is there already")]);
    expect(readFileSync(out, "utf8")).toBe(lines(events.slice(2, 7)));
  });

  it("ends with 1 at an event that does not follow, and at a peer that has lost some", async () => {
    const gap = await against(pages([...events.slice(0, 5), ...events.slice(6)]), ["audit", "export"]);
    expect([gap.code, gap.stderr]).toEqual([1, expect.stringContaining("sequence 6: it is missing")]);
    const lost = await against(pages(events), ["audit", "export", "--since", "20"]);
    expect([lost.code, lost.stdout]).toEqual([1, ""]);
    expect(lost.stderr).toContain("the audit of peer 1 ends at sequence 9, before sequence 19");
  });

  it("follows a peer through a refusal that passes, to the number of events asked for", async () => {
    let asked = 0;
    const peer = (request: Received): Reply => {
      asked += 1;
      if (asked === 2) return jsonReply(503, { status: 503, code: "SEALED", detail: "It is sealed.", retryable: true });
      return pages(asked === 1 ? events.slice(0, 4) : events)(request);
    };
    const { code, stdout, stderr } = await against(peer, ["audit", "export", "--follow", "--limit", "7"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: lines(events.slice(0, 7)) });
    expect(stderr).toBe("custody: It is sealed.; asking again every 5 s\n");
  }, 20_000);

  it("sends nothing with a wrong option", async () => {
    for (const args of [
      ["--since", "0"],
      ["--limit", "0"],
    ]) {
      const { code, received } = await against(pages(events), ["audit", "export", ...args]);
      expect([code, received]).toEqual([2, []]);
    }
  });
});

describe("custody audit verify", () => {
  it("finds a whole export whole, in one file, in several, or repeated in part", async () => {
    const { code, stdout } = await verify(saved(events), "--json");
    expect(code).toBe(0);
    const whole = { peerId: 1, events: COUNT, repeated: 0, last: place(COUNT), integrityKeyVersions: [1, 2] };
    expect(JSON.parse(stdout)).toEqual(whole);
    writeFileSync(file("older.jsonl"), lines(events.slice(0, 5)));
    const parts = await verify(file("older.jsonl"), saved(events.slice(3)), "--until", place(COUNT), "--json");
    expect(JSON.parse(parts.stdout)).toEqual({ ...whole, repeated: 2 });
    const rest = await verify(saved(events.slice(5)), "--after", place(5));
    expect([rest.code, rest.stdout.split("\n")[0]]).toEqual([0, "The audit is whole."]);
  });

  const edited = { ...events[3], data: { ...events[3]?.data, outcome: "ABORTED" } };
  it.each([
    ["without an event", [...events.slice(0, 3), ...events.slice(4)], "line 4: sequence 4: it is missing"],
    ["without its beginning", events.slice(2), "line 1: sequence 1: it is missing"],
    ["out of order", [events[0], events[2], events[1]], "line 2: sequence 2: it is missing"],
    ["edited in one field", events.with(3, Object(edited)), "line 4: sequence 4: it was changed"],
    ["with an event of another peer", events.with(3, Object(auditEvents(COUNT, 2)[3])), "line 4: sequence 4: it is of"],
    [
      "that goes on in another chain",
      [...events.slice(0, 6), ...auditEvents(20).slice(6)],
      "line 7: sequence 7: it does",
    ],
    ["cut in a line", lines(events).slice(0, -9), `line ${COUNT}: it breaks off`],
    ["with a member twice", lines(events).replace('"specversion"', '"id":"","specversion"'), "line 1: it is not JSON"],
  ] as const)("refuses a file %s, naming the place, and ends with 1", async (_what, content, fault) => {
    const { code, stderr, stdout } = await verify(saved(content));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(fault);
  });

  it("refuses files without any event, from which nothing follows", async () => {
    const { code, stdout, stderr } = await verify(saved(""), saved(""));
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("the audit does not hold: there is no event");
    expect((await verify(saved(""), "--after", place(COUNT))).code).toBe(0);
  });

  it("refuses a file without its end where that is told", async () => {
    const cut = saved(events.slice(0, 5));
    expect((await verify(cut)).code).toBe(0);
    const { code, stderr } = await verify(cut, "--until", place(COUNT));
    expect([code, stderr]).toEqual([1, expect.stringContaining(`it ends with ${place(5)}`)]);
  });

  it("goes on at the peer from the end of a file, and compares the newest event", async () => {
    const args = ["audit", "verify", saved(events.slice(0, 5)), "--live", "--json"];
    const { code, stdout, received } = await against(pages(events), args);
    expect([code, received[0]?.path]).toEqual([0, "/v1/custody/audit?since=6&limit=1000"]);
    expect(JSON.parse(stdout)).toMatchObject({ events: COUNT, last: place(COUNT) });
    const same = await against(pages(events.slice(0, 5)), args);
    expect([same.code, same.stderr]).toEqual([0, ""]);
    const parted = await against(pages(auditEvents(20).slice(0, 5)), args);
    expect([parted.code, parted.stderr]).toEqual([1, expect.stringContaining("sequence 5: the peer has another")]);
    const older = await against(pages(events.slice(0, 3)), args);
    expect([older.code, older.stderr]).toEqual([1, expect.stringContaining("its disk is an older one")]);
    const other = await against(pages(auditEvents(3, 2), 2), args);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining("the files are of peer 1, and peer 2")]);
  });

  it("refuses wrong usage before anything else", async () => {
    for (const args of [[], ["--until", "9"], [file("missing.jsonl")], ["--after", "x:y", "--live"]])
      expect((await verify(...args)).code).toBe(2);
  });
});
