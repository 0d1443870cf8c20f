/**
 * A client made from the description of a peer. Beforehand:
 *
 *     custody openapi > openapi.json
 *     npx openapi-typescript openapi.json -o api.d.ts
 *     npm install openapi-fetch
 *
 * CUSTODY_URLS has the addresses of peers, separated by spaces, and CUSTODY_TOKEN a token for the registry.
 */
import { generateKeyPairSync } from "node:crypto";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const { CUSTODY_URLS = "", CUSTODY_TOKEN = "" } = process.env;
const clients = CUSTODY_URLS.split(" ").map((baseUrl) =>
  createClient<paths>({
    baseUrl,
    headers: { "X-JWT-TOKEN": CUSTODY_TOKEN },
    // Filters by metadata are parameters of their own (OpenAPI's usual style, and not the library's).
    querySerializer: { object: { style: "form", explode: true } },
  }),
);
const [first, second = first, third = first] = clients;
if (first === undefined || second === undefined || third === undefined) throw new Error("CUSTODY_URLS is empty");

type Problem = components["schemas"]["Problem"];

/** What was answered, or an error that says what to do. */
const expected = <T>({ data, error }: { data?: T | undefined; error?: Problem | undefined }): T => {
  if (data === undefined) throw new Error(`${error?.code}: ${error?.hint}`);
  return data;
};

const register = async (id: string, metadata: Record<string, string>) => {
  const { publicKey } = generateKeyPairSync("ed25519");
  const publicKey64 = publicKey.export({ format: "der", type: "spki" }).toString("base64");
  const credential = { type: "SIGNATURE", algorithm: "ED25519", publicKey64 } as const;
  return expected(await first.POST("/v1/custody/approvers", { body: { id, credential, metadata } }));
};

/** Everybody with these pairs, a page of two from each peer in turn. */
const listed = async (metadata: Record<string, string>) => {
  const pages: Array<ReadonlyArray<string>> = [];
  const filter = Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value]));
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const asked = clients[pages.length % clients.length] ?? first;
    const query = {
      type: "SIGNATURE",
      metadata: filter,
      limit: 2,
      ...(cursor === undefined ? {} : { cursor }),
    } as const;
    const page = expected(await asked.GET("/v1/custody/approvers", { params: { query } }));
    pages.push(page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return pages;
};

const replace = (ref: string, ifMatch: string, metadata: Record<string, string>) =>
  third.PUT("/v1/custody/approvers/{ref}/metadata", {
    params: { path: { ref }, header: { "If-Match": ifMatch } },
    body: { metadata },
  });

const team = { team: "payments", site: "Köln & Bonn" };
const { ref } = await register("alice", team);
for (const id of ["bob", "carol"]) await register(id, team);
await register("dave", { team: "payments" });
const before = await listed(team);

const read = await second.GET("/v1/custody/approvers/{ref}", { params: { path: { ref } } });
const tag = read.response.headers.get("etag") ?? "";
const replaced = await replace(ref, tag, { team: "treasury" });
const stale = await replace(ref, tag, {});
const cleared = await replace(ref, replaced.response.headers.get("etag") ?? "", {});

const unknown = await first.GET("/v1/custody/approvers", { params: { query: { cursor: "of-no-page" } } });
const { data: configuration } = await first.GET("/v2/custody/config");
const { data: status } = await second.GET("/v1/custody/system/status");

const told = {
  ref,
  read: read.data?.ref,
  before,
  after: await listed(team),
  replaced: [replaced.data?.metadata, replaced.data?.metadataRevision],
  stale: stale.error?.code,
  cleared: [cleared.data?.metadata, cleared.data?.metadataRevision],
  unknown: unknown.error?.errors,
  total: configuration?.total,
  state: status?.state,
};
process.stdout.write(`${JSON.stringify(told)}\n`);
