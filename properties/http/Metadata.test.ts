/** Replacement of metadata over HTTP (contract 4.1.2, 7; RFC 9110 13), through the writer, which is peer 1, and others. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Limits } from "../../core/base/Limits.ts";
import { Enrollees, enrollingElsewhere } from "./Enrollment.ts";
import { type Answered, registration, ServerCluster } from "./ServerCluster.ts";

let cluster: ServerCluster;
let ref: string;
beforeAll(async () => {
  cluster = await ServerCluster.found(3, enrollingElsewhere());
  ref = String((await cluster.register(2, registration("subject", undefined, { team: "a" }))).json["ref"]);
});
afterAll(async () => {
  await cluster.close();
});

/** An approver of its own, at revision 1. */
const fresh = async (id: string, metadata?: object): Promise<Answered> => {
  const created = await cluster.register(1, registration(id, undefined, metadata));
  expect(created.status).toBe(201);
  return created;
};
const refOf = ({ json }: Answered): string => String(json["ref"]);
const pathOf = (name: string): string => `/v1/custody/approvers/${encodeURIComponent(name)}/metadata`;
const codeOf = ({ status, json }: Answered): ReadonlyArray<unknown> => [status, json["code"]];

/** The records that the peers show, each with its tag. */
const shown = (name: string): Promise<ReadonlyArray<readonly [string, string | null]>> =>
  Promise.all(
    cluster.ids.map(async (id) => {
      const { text, headers } = await cluster.read(id, name);
      return [text, headers.get("etag")] as const;
    }),
  );

const faults: ReadonlyArray<readonly [string, string, string, string]> = [
  ["nothing", "", "INVALID_REQUEST_BODY", ""],
  ["no JSON", "{", "INVALID_REQUEST_BODY", ""],
  ["an array", "[]", "INVALID_REQUEST_BODY", ""],
  ["no metadata", "{}", "INVALID_REQUEST_BODY", "/metadata"],
  ["an unknown field", '{"metadata":{},"extra":1}', "INVALID_REQUEST_BODY", "/extra"],
  ["a field of the record", '{"metadata":{},"metadataRevision":1}', "INVALID_REQUEST_BODY", "/metadataRevision"],
  ["a duplicate field", '{"metadata":{},"metadata":{}}', "INVALID_REQUEST_BODY", "/metadata"],
  ["a duplicate key", '{"metadata":{"a":"1","\\u0061":"2"}}', "INVALID_REQUEST_BODY", "/metadata/a"],
  ["null for the map", '{"metadata":null}', "INVALID_REQUEST_BODY", "/metadata"],
  ["null for a value", '{"metadata":{"a":null}}', "INVALID_REQUEST_BODY", "/metadata/a"],
  ["a number", '{"metadata":{"a":1}}', "INVALID_REQUEST_BODY", "/metadata/a"],
  ["a list of pairs", '{"metadata":[["a","b"]]}', "INVALID_REQUEST_BODY", "/metadata"],
  ["trailing JSON", '{"metadata":{}}{}', "INVALID_REQUEST_BODY", ""],
  ["a value over its limit", `{"metadata":{"a":"${"b".repeat(513)}"}}`, "INVALID_METADATA", "/metadata/a"],
];

describe.each([1, 3])("a replacement through peer %i", (through) => {
  const other = (through % 3) + 1;

  it("replaces all pairs, raises the revision, and is shown by every peer; no pairs clear them", async () => {
    const created = await fresh(`replaced-${through}`, { team: "a", site: "x" });
    const name = refOf(created);
    const replaced = await cluster.replace(through, name, '"1"', { metadata: { team: "b", "10": "ü" } });
    expect([replaced.status, replaced.headers.get("etag")]).toEqual([200, '"2"']);
    expect(replaced.headers.get("cache-control")).toBe("no-store");
    const { updatedAt } = replaced.json;
    expect(replaced.json).toEqual({
      ...created.json,
      metadata: { team: "b", "10": "ü" },
      metadataRevision: 2,
      updatedAt,
    });
    expect(Number(updatedAt)).toBeGreaterThanOrEqual(Number(created.json["createdAt"]));
    expect(await shown(name)).toEqual(cluster.ids.map(() => [replaced.text, '"2"']));
    const cleared = await cluster.replace(other, name, '"2"', { metadata: {} });
    expect([cleared.status, cleared.json["metadata"], cleared.json["metadataRevision"]]).toEqual([200, {}, 3]);
    expect(await shown(name)).toEqual(cluster.ids.map(() => [cleared.text, '"3"']));
    // An identical registration finds the version as it is now (contract 4.1).
    expect((await cluster.read(other, name)).json["createdAt"]).toBe(created.json["createdAt"]);
  });

  it("takes the largest map that is allowed", async () => {
    const name = refOf(await fresh(`largest-${through}`));
    const metadata = Object.fromEntries(
      Array.from({ length: Limits.metadataPairs }, (_, index) => [`key-${index}`.padEnd(64, "k"), "v".repeat(448)]),
    );
    expect((await cluster.replace(through, name, '"1"', { metadata })).json["metadata"]).toEqual(metadata);
    const more = { ...metadata, more: "" };
    expect(codeOf(await cluster.replace(through, name, '"2"', { metadata: more }))).toEqual([400, "INVALID_METADATA"]);
  });

  it("is refused with 428 without If-Match", async () => {
    const refused = await cluster.replace(through, ref, undefined, { metadata: {} });
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
    expect(refused.json).toMatchObject({ status: 428, code: "PRECONDITION_REQUIRED", retryable: false });
    expect(refused.json["hint"]).toContain("ETag");
  });

  it.each([
    ["a later revision", '"2"'],
    ["a weak validator", 'W/"1"'],
    ["a wildcard", "*"],
    ["a list", '"1", "2"'],
    ["a list of the same", '"1","1"'],
    ["a list with an empty element", '"1",'],
    ["a long list", Array.from({ length: 200 }, (_, index) => `"${index + 1}"`).join(", ")],
    ["nothing", ""],
    ["no quotes", "1"],
    ["zero", '"0"'],
    ["another number", '"01"'],
    ["another text", '"x"'],
  ])("is refused with 412 for %s in If-Match, and nothing is changed", async (_name, ifMatch) => {
    const refused = await cluster.replace(through, ref, ifMatch, { metadata: { team: "refused" } });
    expect(refused.json).toMatchObject({ status: 412, code: "PRECONDITION_FAILED", retryable: false });
    expect(refused.json["hint"]).toContain("Read the approver");
    for (const [text] of await shown(ref)) expect(text).toContain('"metadata":{"team":"a"},"metadataRevision":1');
  });

  it("is refused with 412 for a revision that was replaced, and with the same request again", async () => {
    const name = refOf(await fresh(`stale-${through}`));
    const replaced = await cluster.replace(other, name, '"1"', { metadata: { team: "b" } });
    for (const metadata of [{ team: "b" }, { team: "c" }]) {
      const refused = await cluster.replace(through, name, '"1"', { metadata });
      expect(refused.json).toMatchObject({ status: 412, code: "PRECONDITION_FAILED", ref: name });
    }
    expect(await shown(name)).toEqual(cluster.ids.map(() => [replaced.text, '"2"']));
    expect((await cluster.replace(through, name, '"2"', { metadata: { team: "c" } })).status).toBe(200);
  });

  it.each(faults)("is refused with 400 for %s", async (_name, body, code, pointer) => {
    const refused = await cluster.replace(through, ref, '"1"', body);
    expect(refused.json).toMatchObject({ status: 400, code, errors: [{ pointer }] });
  });

  it("is judged by token, permission, ref, media type, body, If-Match and registry, in this order", async () => {
    const bad = { "content-type": "text/plain", "if-match": "*" };
    const put = (path: string, body: string, headers: Readonly<Record<string, string>>): Promise<Answered> =>
      cluster.send("PUT", through, path, body, headers);
    expect(codeOf(await put(pathOf("x"), "{", { ...bad, "x-jwt-token": "x" }))).toEqual([401, "UNAUTHENTICATED"]);
    const others = await cluster.mint(["service.approvers.register", "service.approvers.read", "service.system.*"]);
    expect(codeOf(await put(pathOf(ref), "{", { ...bad, "x-jwt-token": others }))).toEqual([403, "ACCESS_DENIED"]);
    expect(codeOf(await put("/v1/custody/approvers/%/metadata", "{", bad))).toEqual([400, "INVALID_REF"]);
    expect(codeOf(await put(pathOf(ref), "{", bad))).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    const json = { ...bad, "content-type": "application/json" };
    expect(codeOf(await put(pathOf("subject"), "{", json))).toEqual([400, "INVALID_REF"]);
    expect(codeOf(await put(pathOf(ref), "{", json))).toEqual([400, "INVALID_REQUEST_BODY"]);
    expect(codeOf(await put(pathOf(ref), '{"metadata":{}}', json))).toEqual([412, "PRECONDITION_FAILED"]);
    const unknown = pathOf(`subject@sha256:${"0".repeat(64)}`);
    // The form of If-Match is a matter of the request alone: what is wrong with it says nothing about the registry.
    const { "if-match": _wildcard, ...unconditional } = json;
    expect(codeOf(await put(unknown, '{"metadata":{}}', unconditional))).toEqual([428, "PRECONDITION_REQUIRED"]);
    for (const unfit of ["*", 'W/"1"', '"1", "2"'])
      expect(codeOf(await put(unknown, '{"metadata":{}}', { ...json, "if-match": unfit }))).toEqual([
        412,
        "PRECONDITION_FAILED",
      ]);
    for (const revision of ['"1"', '"7"'])
      expect(codeOf(await put(unknown, '{"metadata":{}}', { ...json, "if-match": revision }))).toEqual([
        404,
        "APPROVER_NOT_FOUND",
      ]);
  });

  it("needs its own permission and no other", async () => {
    const name = refOf(await fresh(`permitted-${through}`));
    const only = { "x-jwt-token": await cluster.mint(["service.approvers.metadata"]), "if-match": '"1"' };
    const body = { metadata: { team: "b" } };
    expect((await cluster.send("PUT", through, pathOf(name), body, only)).status).toBe(200);
    const read = await cluster.get(through, `/v1/custody/approvers/${name}`, only);
    expect(codeOf(read)).toEqual([403, "ACCESS_DENIED"]);
  });

  it("takes @ and : in its path raw or encoded, decoded once", async () => {
    const name = refOf(await fresh(`encoded-${through}`));
    const segments = [name, encodeURIComponent(name), encodeURIComponent(name).toLowerCase(), name.replace("@", "%40")];
    for (const [index, segment] of segments.entries()) {
      const path = `/v1/custody/approvers/${segment}/metadata`;
      const headers = { "if-match": `"${index + 1}"` };
      expect((await cluster.send("PUT", through, path, { metadata: {} }, headers)).status).toBe(200);
    }
    const twice = `/v1/custody/approvers/${encodeURIComponent(encodeURIComponent(name))}/metadata`;
    expect(codeOf(await cluster.send("PUT", through, twice, {}))).toEqual([400, "INVALID_REF"]);
  });

  it("heeds If-None-Match beside If-Match, and takes no part of a body", async () => {
    const name = refOf(await fresh(`unless-${through}`));
    const put = (headers: Readonly<Record<string, string>>): Promise<Answered> =>
      cluster.send("PUT", through, pathOf(name), { metadata: {} }, { "if-match": '"1"', ...headers });
    for (const excluded of ["*", '"1"', 'W/"1"', '"7", "1"'])
      expect(codeOf(await put({ "if-none-match": excluded }))).toEqual([412, "PRECONDITION_FAILED"]);
    expect(codeOf(await put({ "if-none-match": "1" }))).toEqual([400, "BAD_REQUEST"]);
    expect(codeOf(await put({ "content-range": "bytes 0-14/15" }))).toEqual([400, "BAD_REQUEST"]);
    expect((await put({ "if-none-match": '"2", W/"3"' })).status).toBe(200);
  });

  it("takes a body to its limit and no further", async () => {
    const name = refOf(await fresh(`long-${through}`));
    const padded = (bytes: number): string => '{"metadata":{}}'.padEnd(bytes, " ");
    expect((await cluster.replace(through, name, '"1"', padded(Limits.requestBodyBytes))).status).toBe(200);
    const refused = await cluster.replace(through, name, '"2"', padded(Limits.requestBodyBytes + 1));
    expect(codeOf(refused)).toEqual([413, "BODY_TOO_LARGE"]);
  });
});

describe("the path of a replacement", () => {
  it("knows no other method, and PUT is for no other path", async () => {
    const { url } = cluster.server(1);
    const asked = async (method: string, path: string) => {
      const { status, headers } = await fetch(`${url}${path}`, { method, headers: { "x-jwt-token": cluster.token } });
      return [status, headers.get("allow")];
    };
    for (const method of ["GET", "POST", "DELETE", "PATCH"])
      expect(await asked(method, pathOf(ref))).toEqual([405, "PUT"]);
    expect(await asked("PUT", `/v1/custody/approvers/${ref}`)).toEqual([405, "GET, HEAD"]);
    expect(await asked("PUT", "/v1/custody/system/seal")).toEqual([405, "POST"]);
    expect(await asked("PUT", `${pathOf(ref)}/`)).toEqual([404, null]);
    expect(await asked("PUT", `/v1/custody/approvers/x/${ref}/metadata`)).toEqual([404, null]);
  });

  it("refuses a second If-Match line as a list", async () => {
    const { hostname, port } = new URL(cluster.server(2).url);
    const sent = (lines: ReadonlyArray<string>): Promise<string> =>
      new Promise((resolve, reject) => {
        const body = '{"metadata":{"team":"a"}}';
        const head = [
          `PUT ${pathOf(ref)} HTTP/1.1`,
          "host: x",
          `x-jwt-token: ${cluster.token}`,
          "content-type: application/json",
          `content-length: ${body.length}`,
          "connection: close",
          ...lines,
        ];
        const socket = connect(Number(port), hostname, () => socket.write(`${head.join("\r\n")}\r\n\r\n${body}`));
        let text = "";
        socket.on("data", (chunk) => void (text += chunk.toString()));
        socket.on("error", reject).on("close", () => resolve(text));
      });
    expect(await sent(['if-match: "1"', 'if-match: "1"'])).toMatch(/^HTTP\/1\.1 412 /);
    expect(await sent(['if-match: "1"', "if-match:"])).toMatch(/^HTTP\/1\.1 412 /);
    expect(await sent(['If-Match:   "1"  '])).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\netag: "2"\r\n/i);
  });
});

describe("replacements of the same revision at once", () => {
  it("make one and refuse all others, and every peer shows that one", async () => {
    const name = refOf(await fresh("raced"));
    for (const revision of [1, 2, 3]) {
      const racers = [1, 2, 3, 1, 2, 3].map((through, index) =>
        cluster.replace(through, name, `"${revision}"`, { metadata: { winner: `${revision}-${index}` } }),
      );
      const answers = await Promise.all(racers);
      const won = answers.filter(({ status }) => status === 200);
      expect([won.length, won[0]?.headers.get("etag")]).toEqual([1, `"${revision + 1}"`]);
      for (const lost of answers) if (lost !== won[0]) expect(codeOf(lost)).toEqual([412, "PRECONDITION_FAILED"]);
      expect(await shown(name)).toEqual(cluster.ids.map(() => [won[0]?.text, `"${revision + 1}"`]));
    }
  });
});

describe("a passkey's record", () => {
  it("keeps descriptor and observations when its metadata is replaced", async () => {
    const enrollees = new Enrollees(cluster);
    const offered = await enrollees.options(1, { id: "holder" });
    const credential = enrollees.credential(offered, "holder");
    const created = await enrollees.finish(2, { invitation: offered.invitation, credential });
    const replaced = await cluster.replace(3, refOf(created), '"1"', { metadata: { team: "b" } });
    const { updatedAt } = replaced.json;
    expect(replaced.json).toEqual({ ...created.json, metadata: { team: "b" }, metadataRevision: 2, updatedAt });
    expect(Object.keys(replaced.json)).toEqual(Object.keys(created.json));
    expect(await shown(refOf(created))).toEqual(cluster.ids.map(() => [replaced.text, '"2"']));
  });
});
