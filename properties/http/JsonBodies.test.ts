/** Every text of the JSON test suite that is no JSON is refused with 400, and the next request on its connection is served. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { registration, ServerCluster } from "./ServerCluster.ts";

const corpus = fileURLToPath(new URL("../../../shared/vectors/json/test_parsing/", import.meta.url));
const files = existsSync(corpus) ? readdirSync(corpus).filter((name) => name.startsWith("n_")) : [];

const APPROVERS = "/v1/custody/approvers";

let cluster: ServerCluster;
let metadataPath: string;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
beforeAll(async () => {
  cluster = await ServerCluster.found(1);
  const { ref } = (await cluster.register(1, registration("subject"))).json;
  metadataPath = `${APPROVERS}/${String(ref)}/metadata`;
});
afterAll(async () => {
  agent.destroy();
  await cluster.close();
});

/** Sends a body on the one connection; says whether that was open already. */
const sent = (method: string, path: string, body: Uint8Array | string) =>
  new Promise<{ readonly status: number | undefined; readonly code: unknown; readonly isReused: boolean }>(
    (resolve, reject) => {
      const headers = { "x-jwt-token": cluster.token, "content-type": "application/json", "if-match": '"1"' };
      const asked = request(`${cluster.server(1).url}${path}`, { method, headers, agent }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("end", () => {
          const { code }: { readonly code?: unknown } = JSON.parse(text);
          resolve({ status: response.statusCode, code, isReused: asked.reusedSocket });
        });
      });
      asked.on("error", reject);
      asked.end(body);
    },
  );

// Without the corpus beside the checkout there is nothing to send.
describe.skipIf(files.length === 0)("a body that is no JSON", () => {
  it.each([
    ["a registration", "POST", () => APPROVERS],
    ["a replacement of metadata", "PUT", () => metadataPath],
  ])("of %s is refused, and its connection goes on", async (_name, method, path) => {
    expect(files.length).toBeGreaterThan(150);
    await sent(method, path(), "{}");
    for (const file of files) {
      const refused = await sent(method, path(), readFileSync(join(corpus, file)));
      expect({ file, ...refused }).toEqual({ file, status: 400, code: "INVALID_REQUEST_BODY", isReused: true });
    }
  });

  it("does not keep what is JSON from being taken on the same connection", async () => {
    expect(await sent("PUT", metadataPath, '{"metadata":{}}')).toMatchObject({ status: 200, isReused: true });
    expect(await sent("POST", APPROVERS, JSON.stringify(registration("other")))).toMatchObject({
      status: 201,
      isReused: true,
    });
  });
});
