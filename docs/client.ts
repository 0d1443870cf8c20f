/**
 * A client made from the description of a peer. Beforehand:
 *
 *     npx openapi-typescript http://127.0.0.1:7300/openapi.json -o api.d.ts
 *     npm install openapi-fetch
 *
 * CUSTODY_URLS has the addresses of peers, separated by spaces, and CUSTODY_TOKEN a token for the registry.
 */
import { generateKeyPairSync } from "node:crypto";
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

const { CUSTODY_URLS = "", CUSTODY_TOKEN = "" } = process.env;
const clients = CUSTODY_URLS.split(" ").map((baseUrl) =>
  createClient<paths>({ baseUrl, headers: { "X-JWT-TOKEN": CUSTODY_TOKEN } }),
);
const [first, second = first, third = first] = clients;
if (first === undefined || second === undefined || third === undefined) throw new Error("CUSTODY_URLS is empty");

const publicKey64 = generateKeyPairSync("ed25519").publicKey.export({ format: "der", type: "spki" }).toString("base64");

const registered = await first.POST("/v1/custody/approvers", {
  body: { id: "alice", credential: { type: "SIGNATURE", algorithm: "ED25519", publicKey64 } },
});
if (registered.error !== undefined) throw new Error(`${registered.error.code}: ${registered.error.hint}`);
const { ref } = registered.data;

const read = await second.GET("/v1/custody/approvers/{ref}", { params: { path: { ref } } });
const tag = read.response.headers.get("etag") ?? "";
const replaced = await third.PUT("/v1/custody/approvers/{ref}/metadata", {
  params: { path: { ref }, header: { "If-Match": tag } },
  body: { metadata: { team: "payments" } },
});
const stale = await first.PUT("/v1/custody/approvers/{ref}/metadata", {
  params: { path: { ref }, header: { "If-Match": tag } },
  body: { metadata: {} },
});
const { data: configuration } = await first.GET("/v2/custody/config");
const { data: status } = await second.GET("/v1/custody/system/status");

const told = {
  ref,
  read: read.data?.ref,
  metadata: replaced.data?.metadata,
  revision: replaced.data?.metadataRevision,
  stale: stale.error?.code,
  total: configuration?.total,
  state: status?.state,
};
process.stdout.write(`${JSON.stringify(told)}\n`);
