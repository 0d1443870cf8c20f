/** `custody approvers list` against three real peers. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { runInProcess } from "./cli/InProcess.ts";
import { registration, ServerCluster } from "./http/ServerCluster.ts";

let cluster: ServerCluster;
/** Of five versions, by ref. */
let refs: ReadonlyArray<string>;
beforeAll(async () => {
  cluster = await ServerCluster.found(3);
  const made = [];
  for (const [at, id] of ["a", "b", "a", "c", "a"].entries())
    made.push(await cluster.register(1, registration(id, undefined, { team: at < 2 ? "x y" : "z", at: String(at) })));
  refs = made.map(({ json }) => String(json["ref"])).toSorted();
});
afterAll(async () => {
  await cluster.close();
});

const run = (args: ReadonlyArray<string>, token = cluster.token) =>
  runInProcess(["approvers", "list", ...args], { CUSTODY_TOKEN: token, CUSTODY_URL: cluster.server(2).url });

const refsIn = (stdout: string): ReadonlyArray<string> => stdout.match(/\S+@sha256:[0-9a-f]{64}/g) ?? [];

it("prints versions as a table, by ref", async () => {
  const { code, stdout, stderr } = await run([]);
  expect([code, stderr, refsIn(stdout)]).toEqual([0, "", refs]);
  const [heading, first] = stdout.split("\n");
  expect(heading?.split(/ +/)).toEqual(["REF", "TYPE", "ALGORITHM", "REVISION", "UPDATED", "METADATA"]);
  expect(first).toMatch(/^a@sha256:\S+ +SIGNATURE +ED25519 +1 +20\S+Z +(at=\d team=|team=.* at=\d)/);
});

it("prints only what the filters say", async () => {
  expect(refsIn((await run(["--id", "a"])).stdout)).toHaveLength(3);
  expect(refsIn((await run(["--metadata", "team=x y", "--type", "SIGNATURE"])).stdout)).toHaveLength(2);
  expect(refsIn((await run(["--metadata", "team=z", "--metadata", "at=2"])).stdout)).toHaveLength(1);
  const none = await run(["--type", "WEBAUTHN"]);
  expect(none).toMatchObject({ code: 0, stdout: "", stderr: "no version has all of that\n" });
});

it("tells where the next page begins, and goes on there", async () => {
  const { stdout, stderr } = await run(["--limit", "2"]);
  const cursor = /^more: --cursor (\S+)\n$/.exec(stderr)?.[1] ?? expect.fail(stderr);
  const rest = await run(["--limit", "3", "--cursor", cursor]);
  expect([...refsIn(stdout), ...refsIn(rest.stdout)]).toEqual(refs);
  expect(rest.stderr).toBe("");
  const foreign = await run(["--id", "a", "--cursor", cursor]);
  expect(foreign.code).toBe(1);
  expect(foreign.stderr).toContain("INVALID_QUERY (400)");
  expect(foreign.stderr).toContain("at cursor: invalid_value");
});

it("prints every page with --all, and pages as lines with --json", async () => {
  const all = await run(["--all", "--limit", "2"]);
  expect([refsIn(all.stdout), all.stderr]).toEqual([refs, ""]);
  const { stdout } = await run(["--all", "--limit", "2", "--json"]);
  const pages: ReadonlyArray<{ items: ReadonlyArray<{ ref: string }>; nextCursor: unknown }> = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(pages.map(({ items }) => items.length)).toEqual([2, 2, 1]);
  expect(pages.flatMap(({ items }) => items.map(({ ref }) => ref))).toEqual(refs);
  expect(pages.map(({ nextCursor }) => nextCursor === null)).toEqual([false, false, true]);
});

it("sends nothing that cannot be right, and shows refusals", async () => {
  for (const [args, why] of [
    [["--limit", "0"], "--limit is a number from 1 to 200"],
    [["--limit", "201"], "--limit is a number from 1 to 200"],
    [["--metadata", "team"], "--metadata 1 is not key=value"],
    [["--metadata", "a=1", "--metadata", "a=2"], "--metadata 2 repeats a key"],
  ] as const) {
    const { code, stderr } = await run(args);
    expect([code, stderr.includes(why)], stderr).toEqual([2, true]);
  }
  const refused = await run(["--id", "not/an/id"]);
  expect([refused.code, refused.stderr.includes("at id: invalid_value")]).toEqual([1, true]);
  const poor = await run([], await cluster.mint(["service.approvers.register"]));
  expect([poor.code, poor.stderr.includes("ACCESS_DENIED")]).toEqual([1, true]);
});
