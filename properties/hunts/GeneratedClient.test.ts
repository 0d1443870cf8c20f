import { execFile } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import openapiTS, { astToString } from "openapi-typescript";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runInProcess } from "../cli/InProcess.ts";
import { ServerCluster } from "../http/ServerCluster.ts";

const run = promisify(execFile);
const tsc = ["node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--exactOptionalPropertyTypes"];
const target = ["--target", "es2022", "--module", "nodenext", "--types", "node", "--skipLibCheck"];

let cluster: ServerCluster;
let folder: string;
beforeAll(async () => {
  cluster = await ServerCluster.found(3);
  folder = mkdtempSync(join(tmpdir(), "custody-client-"));
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  copyFileSync("docs/client.ts", join(folder, "client.ts"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await cluster.close();
});

const faultsOf = async (): Promise<string> =>
  run("node", [...tsc, ...target, join(folder, "client.ts")]).then(
    () => "",
    (fault: unknown) => String(typeof fault === "object" && fault !== null ? Reflect.get(fault, "stdout") : fault),
  );

it("the client of docs/client.ts is generated from what every peer serves, and drives three peers", async () => {
  const offline = await runInProcess(["openapi"], {});
  expect([offline.code, offline.stderr]).toEqual([0, ""]);
  const json: unknown = JSON.parse(offline.stdout);
  for (const id of cluster.ids)
    expect(json).toEqual((await cluster.get(id, "/openapi.json", { "x-jwt-token": "" })).json);
  expect((await runInProcess(["openapi", "--url", cluster.server(1).url], {})).code).toBe(2);
  const types = astToString(await openapiTS(JSON.stringify(json)));
  writeFileSync(join(folder, "api.d.ts"), types);
  expect(await faultsOf()).toBe("");

  const env = {
    ...process.env,
    CUSTODY_URLS: cluster.ids.map((id) => cluster.server(id).url).join(" "),
    CUSTODY_TOKEN: await cluster.mint(["service.approvers.*"]),
  };
  const { stdout } = await run("node", ["--import", "tsx", join(folder, "client.ts")], { env });
  const told: { readonly [name: string]: unknown } = JSON.parse(stdout);
  expect(told).toMatchObject({
    read: told["ref"],
    before: [["alice", "bob"], ["carol"]],
    after: [["bob", "carol"]],
    replaced: [{ team: "treasury" }, 2],
    stale: "PRECONDITION_FAILED",
    cleared: [{}, 3],
    unknown: [{ parameter: "cursor", code: "invalid_value" }],
    total: 3,
    state: "UNSEALED",
  });

  // The types are no formality: without a field that the answer has, the client does not compile.
  writeFileSync(join(folder, "api.d.ts"), types.replaceAll("metadataRevision", "otherRevision"));
  expect(await faultsOf()).toContain("metadataRevision");
});
