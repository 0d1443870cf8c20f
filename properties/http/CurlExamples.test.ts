import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { curlExample, examplePath } from "../../server/http/endpoints/CurlExample.ts";
import { type EndpointName, endpoints } from "../../server/http/endpoints/Endpoints.ts";
import { undescribed } from "./Described.ts";
import { enrollingElsewhere } from "./Enrollment.ts";
import { ServerCluster } from "./ServerCluster.ts";

/** In an order in which each can be asked, with the answer at three peers that are founded and unsealed. */
const expected: { readonly [N in EndpointName]: number } = {
  readDescription: 200,
  readReference: 200,
  readEnrollmentPage: 200,
  readEnrollmentFile: 200,
  readHealth: 200,
  readReadable: 200,
  readReady: 200,
  readStatus: 200,
  readPromotion: 200,
  // The example's target is nowhere near.
  promote: 400,
  readConfiguration: 200,
  registerApprover: 201,
  readApprover: 200,
  listApprovers: 200,
  resolvePolicy: 200,
  replaceMetadata: 200,
  startEnrollment: 200,
  // The invitation of an example is nobody's.
  finishEnrollment: 404,
  createKey: 201,
  readKey: 200,
  readGeneration: 200,
  readPublicKey: 200,
  listKeys: 200,
  listIdentities: 200,
  describeAuthority: 200,
  sign: 200,
  verify: 200,
  rotateKey: 200,
  refreshKey: 409,
  destroyKey: 200,
  // Nothing is missing.
  repairKey: 200,
  readAudit: 200,
  backup: 200,
  rotateIntegrity: 200,
  rekey: 200,
  unseal: 200,
  // After the first unseal there is no other.
  initialize: 409,
  seal: 200,
  restore: 200,
};
const inOrder = Object.keys(expected) as ReadonlyArray<EndpointName>;

let cluster: ServerCluster;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  cluster = await ServerCluster.found(3, enrollingElsewhere());
  const file = join(cluster.folder, "token.header");
  writeFileSync(file, `X-JWT-TOKEN: ${await cluster.mint(["service.*.*", "service.*.*.*", "service.recover"])}\n`);
  env = { ...process.env, CUSTODY_URL: cluster.server(1).url, CUSTODY_HEADER: file };
});
afterAll(async () => {
  await cluster.close();
});

const curl = async (name: EndpointName) => {
  const endpoint = endpoints[name];
  const { stdout } = await promisify(execFile)("sh", ["-c", curlExample(endpoint)], {
    env,
    cwd: cluster.folder,
    maxBuffer: 1024 * 1024,
  });
  const end = stdout.indexOf("\r\n\r\n");
  const [line = "", ...lines] = stdout.slice(0, end).split("\r\n");
  const headers = new Headers(
    lines.map((each): [string, string] => [each.slice(0, each.indexOf(":")), each.slice(each.indexOf(":") + 1)]),
  );
  const { method } = endpoint;
  return {
    method,
    target: examplePath(endpoint),
    status: Number(line.split(" ")[1]),
    headers,
    text: stdout.slice(end + 4),
  };
};

describe("the curl example", () => {
  it.each(inOrder)("of %s is answered as it is described", async (name) => {
    const answered = await curl(name);
    expect([answered.status, undescribed(answered), answered.status >= 500 ? answered.text : ""]).toEqual([
      expected[name],
      [],
      "",
    ]);
    if (name === "registerApprover")
      expect(JSON.parse(answered.text).ref).toBe(endpoints.registerApprover.answers[201].example.ref);
  });
});

describe("the pages of the description", () => {
  it("come without a token, and forbid everything but their own style", async () => {
    const { headers, text } = await curl("readReference");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(text).toContain("<h1>custody ");
    expect((await curl("readDescription")).headers.get("content-type")).toBe("application/json");
  });
});
