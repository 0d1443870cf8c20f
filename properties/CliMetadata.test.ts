/** `custody approvers metadata` against three real peers, and against answers that those give only in trouble. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fakeService, jsonReply, type Received, type Reply } from "./cli/FakeService.ts";
import { runInProcess } from "./cli/InProcess.ts";
import { registration, ServerCluster } from "./http/ServerCluster.ts";

let cluster: ServerCluster;
beforeAll(async () => {
  cluster = await ServerCluster.found(3);
});
afterAll(async () => {
  await cluster.close();
});

const fresh = async (id: string, metadata: object = { team: "a", site: "x" }): Promise<string> =>
  String((await cluster.register(1, registration(id, undefined, metadata))).json["ref"]);

/** Runs a command of `custody approvers metadata` through a peer. */
const run = (args: ReadonlyArray<string>, through = 2, token = cluster.token) =>
  runInProcess(["approvers", "metadata", ...args], { CUSTODY_TOKEN: token, CUSTODY_URL: cluster.server(through).url });

/** Pairs and revision of a record. */
const present = async (ref: string) => {
  const { metadata, metadataRevision } = (await cluster.read(3, ref)).json;
  return [metadata, metadataRevision];
};

describe("metadata set", () => {
  it("replaces all pairs and prints the record", async () => {
    const ref = await fresh("replaced");
    const { code, stdout, stderr } = await run(["set", ref, "team=b=c", "note="]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`^Replaced: ${ref} is at revision 2\nid: replaced\n`));
    expect(await present(ref)).toEqual([{ team: "b=c", note: "" }, 2]);
    const json = await run(["set", ref, "team=d", "--json"], 1);
    expect(json.stdout).toBe(`${(await cluster.read(1, ref)).text}\n`);
  });

  it("leaves alone what is there already, so that it may be repeated", async () => {
    const ref = await fresh("unchanged");
    const { code, stdout } = await run(["set", ref, "site=x", "team=a"]);
    expect([code, stdout.split("\n")[0]]).toEqual([0, `Unchanged: ${ref} is at revision 1`]);
    const args = ["set", ref, "team=b", "--revision", "1"];
    expect((await run(args)).stdout).toContain("Replaced: ");
    const again = await run(args);
    expect([again.code, again.stdout.split("\n")[0]]).toEqual([0, `Unchanged: ${ref} is at revision 2`]);
    expect(await present(ref)).toEqual([{ team: "b" }, 2]);
  });

  it("keeps the pairs that are not named with --merge and --remove", async () => {
    const ref = await fresh("merged");
    expect((await run(["set", ref, "--merge", "team=b", "new=1"])).code).toBe(0);
    expect(await present(ref)).toEqual([{ team: "b", site: "x", new: "1" }, 2]);
    expect((await run(["set", ref, "--remove", "site", "--remove", "absent", "team=c", "--revision", "2"])).code).toBe(
      0,
    );
    expect(await present(ref)).toEqual([{ team: "c", new: "1" }, 3]);
    expect((await run(["set", ref, "--remove", "absent"])).stdout).toContain("Unchanged: ");
  });

  it("ends with 5 for a revision that was passed, and says what there is now", async () => {
    const ref = await fresh("conflicting");
    await run(["set", ref, "team=b"]);
    for (const more of [[], ["--merge"]]) {
      const { code, stdout, stderr } = await run(["set", ref, "team=c", "--revision", "1", ...more]);
      expect([code, stdout]).toEqual([5, ""]);
      expect(stderr).toContain('changed by somebody else; it is at revision 2 now, with {"team":"b"}');
      expect(stderr).toContain("custody approvers get REF");
    }
    const json = await run(["set", ref, "team=c", "--revision", "1", "--json"]);
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: {
        kind: "conflict",
        problem: { status: 412, code: "PRECONDITION_FAILED" },
        current: { ref, metadata: { team: "b" }, metadataRevision: 2 },
      },
    });
    expect(await present(ref)).toEqual([{ team: "b" }, 2]);
    expect((await run(["set", ref, "team=c", "--revision", "2"])).code).toBe(0);
  });

  it("needs the permission to read unless it is told the revision", async () => {
    const ref = await fresh("permitted");
    const token = await cluster.mint(["service.approvers.metadata"]);
    const refused = await run(["set", ref, "team=b"], 1, token);
    expect([refused.code, refused.stderr.includes("ACCESS_DENIED (403)")]).toEqual([1, true]);
    expect((await run(["set", ref, "team=b", "--revision", "1"], 1, token)).code).toBe(0);
    const conflict = await run(["set", ref, "team=c", "--revision", "1"], 1, token);
    expect([conflict.code, conflict.stderr.includes("at revision")]).toEqual([5, false]);
    const reader = await cluster.mint(["service.approvers.read"]);
    expect((await run(["set", ref, "team=d"], 3, reader)).code).toBe(1);
    expect(await present(ref)).toEqual([{ team: "b" }, 2]);
  });

  it("ends with 1 for an approver that nobody knows, and for metadata over a limit", async () => {
    const unknown = await run(["set", `nobody@sha256:${"0".repeat(64)}`, "team=b"]);
    expect([unknown.code, unknown.stderr.includes("APPROVER_NOT_FOUND (404)")]).toEqual([1, true]);
    const long = await run(["set", await fresh("long"), `team=${"b".repeat(513)}`]);
    expect([long.code, long.stderr.includes("at /metadata/team")]).toEqual([1, true]);
  });
});

describe("metadata clear", () => {
  it("removes all pairs, and ends with 5 where it was told another revision", async () => {
    const ref = await fresh("cleared");
    expect((await run(["clear", ref, "--revision", "2"])).code).toBe(5);
    expect((await run(["clear", ref])).stdout).toContain("metadata: {}\nmetadataRevision: 2\n");
    expect(await present(ref)).toEqual([{}, 2]);
    expect((await run(["clear", ref])).stdout).toContain("Unchanged: ");
  });
});

describe("answers in trouble", () => {
  const ref = `alice@sha256:${"a".repeat(64)}`;
  const record = (metadata: object, metadataRevision: number): Reply =>
    jsonReply(200, { ref, metadata, metadataRevision });
  const problem = (status: number, code: string, more: object = {}): Reply =>
    jsonReply(status, { status, code, ...more });

  /** Runs a command against scripted answers to what it reads and what it changes. */
  const against = async (
    reads: ReadonlyArray<Reply>,
    put: Reply,
    args: ReadonlyArray<string> = ["set", ref, "team=b"],
  ) => {
    let count = 0;
    const service = await fakeService(({ method }: Received) => (method === "PUT" ? put : (reads[count++] ?? "cut")));
    const env = { CUSTODY_TOKEN: "a.b.c", CUSTODY_URL: service.url };
    const finished = await runInProcess(["approvers", "metadata", ...args], env).finally(service.close);
    return { ...finished, received: service.received };
  };

  it("sends the revision it has read, quoted, with the whole map", async () => {
    const { code, received } = await against([record({ site: "x" }, 7)], record({ team: "b" }, 8));
    expect(code).toBe(0);
    expect(received.map(({ method, path, ifMatch, body }) => [method, path, ifMatch, body])).toEqual([
      ["GET", `/v1/custody/approvers/${encodeURIComponent(ref)}`, undefined, ""],
      ["PUT", `/v1/custody/approvers/${encodeURIComponent(ref)}/metadata`, '"7"', '{"metadata":{"team":"b"}}'],
    ]);
  });

  it("ends with 5 when somebody else was faster, and with 0 when that was the same change", async () => {
    const stale = problem(412, "PRECONDITION_FAILED", { detail: "The approver's revision is another one." });
    const lost = await against([record({}, 7), record({ team: "c" }, 8)], stale);
    expect([lost.code, lost.stderr.includes('at revision 8 now, with {"team":"c"}')]).toEqual([5, true]);
    const done = await against([record({}, 7), record({ team: "b" }, 8)], stale);
    expect([done.code, done.stdout.split("\n")[0]]).toEqual([0, `Unchanged: ${ref} is at revision 8`]);
    const unread = await against([record({}, 7), "cut"], stale);
    expect(unread.code).toBe(5);
  });

  it("ends with 4 and says to repeat it when the outcome is not known", async () => {
    const open = problem(503, "APPROVER_REPLICATION_UNAVAILABLE", { outcomeUnknown: true, hint: "Read the approver." });
    for (const put of [open, "cut", jsonReply(200, { ref })] as const) {
      const { code, stdout } = await against([record({}, 7)], put);
      expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    }
    const { stderr } = await against([record({}, 7)], open);
    expect(stderr).toContain("hint: Read the approver.");
    expect(stderr).toContain("repeat the same command");
  });

  it("ends with 3 when what answers the read is no record, and sends nothing after that", async () => {
    const { code, received } = await against([jsonReply(200, { ref })], "cut");
    expect([code, received.length]).toEqual([3, 1]);
  });

  it.each([
    ["no pair", ["set", ref], /no pair is given/],
    ["a word that is no pair", ["set", ref, "team"], /pair 1 is not key=value/],
    ["a key given twice", ["set", ref, "a=1", "a=2"], /pair 2 repeats a key/],
    ["a key that is set and removed", ["set", ref, "a=1", "--remove", "b", "--remove", "a"], /--remove 2 is among/],
    ["a shortened ref", ["clear", "alice@sha256:00"], /not a complete ref/],
    ["revision 0", ["clear", ref, "--revision", "0"], /--revision must be/],
  ])("ends with 2 and sends nothing for %s", async (_name, args, message) => {
    const { code, stderr, received } = await against([], "cut", args);
    expect([code, received.length]).toEqual([2, 0]);
    expect(stderr).toMatch(message);
  });
});
