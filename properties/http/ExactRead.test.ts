/** Conditional reads of one version, HEAD and caching (RFC 9110 9.3.2, 13; RFC 9111 5.2.2), through two peers. */
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answered, registration, ServerCluster } from "./ServerCluster.ts";

let cluster: ServerCluster;
let whole: Answered;
let path: string;
beforeAll(async () => {
  cluster = await ServerCluster.found(3);
  const ref = String((await cluster.register(2, registration("subject"))).json["ref"]);
  whole = await cluster.replace(3, ref, '"1"', { metadata: { team: "ü" } });
  path = `/v1/custody/approvers/${ref}`;
});
afterAll(async () => {
  await cluster.close();
});

/** Sends bytes on a connection of its own and gives what comes back until it is closed. */
const exchange = (through: number, request: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(cluster.server(through).url);
    const socket = connect(Number(port), hostname, () => socket.write(request));
    let text = "";
    socket.on("data", (chunk) => void (text += chunk.toString()));
    socket.on("error", reject).on("close", () => resolve(text));
  });

const requestOf = (method: string, lines: ReadonlyArray<string>): string =>
  [`${method} ${path} HTTP/1.1`, "host: x", `x-jwt-token: ${cluster.token}`, ...lines, "", ""].join("\r\n");

describe.each([1, 3])("an exact read through peer %i", (through) => {
  const read = (headers: Readonly<Record<string, string>> = {}): Promise<Answered> =>
    cluster.get(through, path, headers);

  it("says that its reader may keep it, and must ask each time", async () => {
    const { status, text, headers } = await read();
    expect([status, text, headers.get("etag")]).toEqual([200, whole.text, '"2"']);
    expect(headers.get("cache-control")).toBe("private, no-cache");
  });

  it.each([
    ["the tag", '"2"'],
    ["the tag as a weak one", 'W/"2"'],
    ["a list with it", '"1", W/"2",'],
    ["a list with empty elements", ' ,, "2"'],
    ["a list with a comma inside a tag", '"a,b" ,"2"'],
    ["a wildcard", "*"],
  ])("is answered 304 without a body for If-None-Match with %s", async (_name, ifNoneMatch) => {
    const { status, text, headers } = await read({ "if-none-match": ifNoneMatch });
    expect([status, text]).toEqual([304, ""]);
    expect(headers.get("etag")).toBe('"2"');
    expect(headers.get("cache-control")).toBe("private, no-cache");
    expect(headers.get("x-request-id")).not.toBeNull();
    expect([headers.get("content-type"), headers.get("content-length")]).toEqual([null, null]);
  });

  it.each([
    ["another revision", '"1"'],
    ["a list of others", '"1", W/"3"'],
    ["a list inside a tag", '"1,2,*"'],
    ["an empty list", ","],
    ["nothing", ""],
  ])("is answered as a whole for If-None-Match with %s", async (_name, ifNoneMatch) => {
    const { status, text } = await read({ "if-none-match": ifNoneMatch });
    expect([status, text]).toEqual([200, whole.text]);
  });

  it.each([
    ["no quotes", "2"],
    ["one quote", '"2'],
    ["a small w", 'w/"2"'],
    ["a wildcard in a list", '"2", *'],
    ["two tags without a comma", '"2" "3"'],
    ["a space in a tag", '"a b"'],
    ["thousands of spaces", `${'"1",'.repeat(1_000)}${" ".repeat(20_000)}x`],
  ])("is refused with 400 for If-None-Match with %s", async (_name, ifNoneMatch) => {
    const { status, json } = await read({ "if-none-match": ifNoneMatch });
    expect([status, json["code"]]).toEqual([400, "BAD_REQUEST"]);
    expect(json["detail"]).toContain("If-None-Match");
  });

  it("heeds If-Match, by strong comparison, before If-None-Match; and no dates, as there are none", async () => {
    for (const ifMatch of ['"2"', '"1", "2"', "*"]) expect((await read({ "if-match": ifMatch })).status).toBe(200);
    for (const ifMatch of ['W/"2"', '"1"', ","]) {
      const refused = await read({ "if-match": ifMatch, "if-none-match": '"2"' });
      expect([refused.status, refused.json["code"]]).toEqual([412, "PRECONDITION_FAILED"]);
    }
    expect((await read({ "if-match": "2" })).status).toBe(400);
    expect((await read({ "if-match": '"2"', "if-none-match": '"2"' })).status).toBe(304);
    const late = "Fri, 01 Jan 2100 00:00:00 GMT";
    expect((await read({ "if-modified-since": late, range: "bytes=0-1" })).status).toBe(200);
    expect((await read({ "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" })).status).toBe(200);
  });

  it("judges conditions last: what is refused without them is refused with them", async () => {
    const any = { "if-none-match": "*" };
    const stranger = await cluster.mint(["service.approvers.metadata"]);
    expect((await read({ ...any, "x-jwt-token": "x" })).status).toBe(401);
    expect((await read({ ...any, "x-jwt-token": stranger })).status).toBe(403);
    expect((await cluster.get(through, "/v1/custody/approvers/alice", any)).status).toBe(400);
    const unknown = await cluster.get(through, `/v1/custody/approvers/alice@sha256:${"0".repeat(64)}`, any);
    expect([unknown.status, unknown.headers.get("cache-control")]).toEqual([404, "no-store"]);
  });

  it("has the same headers for HEAD, and no body", async () => {
    const get = await read();
    const head = await fetch(`${cluster.server(through).url}${path}`, {
      method: "HEAD",
      headers: { "x-jwt-token": cluster.token },
    });
    const shown = ({ headers }: { readonly headers: Headers }) =>
      [...headers].filter(([name]) => !["date", "x-request-id", "connection", "keep-alive"].includes(name));
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect(shown(head)).toEqual(shown(get));
    expect(head.headers.get("content-length")).toBe(String(Buffer.byteLength(whole.text)));
  });

  it("leaves its connection in order after HEAD and 304: what follows is the next answer", async () => {
    const text = await exchange(
      through,
      requestOf("HEAD", []) +
        requestOf("GET", ['if-none-match: "1"', 'if-none-match: "2"']) +
        requestOf("HEAD", ["if-none-match: *"]) +
        requestOf("GET", ["connection: close"]),
    );
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["200", "304", "304", "200"].map((status) => `HTTP/1.1 ${status}`));
    expect(text.match(/\{/g)?.length).toBe(whole.text.match(/\{/g)?.length);
    expect(text.endsWith(whole.text)).toBe(true);
  });
});

describe("all other answers", () => {
  it("are kept by nobody", async () => {
    const { id, credential, metadata } = registration("kept");
    const created = await cluster.register(1, { id, credential, metadata });
    const again = await cluster.register(2, { id, credential, metadata });
    const configuration = await cluster.get(1, "/v2/custody/config", { "if-none-match": "*" });
    for (const answered of [created, again, configuration, await cluster.get(1, "/nowhere")])
      expect(answered.headers.get("cache-control")).toBe("no-store");
    expect(configuration.status).toBe(200);
  });
});
