import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Limits } from "../../core/base/Limits.ts";
import { maxHeaderBytes } from "../../server/http/PublicListener.ts";
import { allPermissions, freshKey64, registration, ServerCluster } from "./ServerCluster.ts";

const APPROVERS = "/v1/custody/approvers";

let cluster: ServerCluster;
beforeAll(async () => {
  cluster = await ServerCluster.found(1);
});
afterAll(async () => {
  await cluster.close();
});

/** Sends bytes on a connection of its own and gives what comes back until it is closed. */
const exchange = (request: string | Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(cluster.server(1).url);
    const socket = connect(Number(port), hostname, () => socket.write(request));
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
  });

const valid = JSON.stringify(registration("strict"));
const key = freshKey64();
const withKey = (more: string): string =>
  `{"id":"x","credential":{"type":"SIGNATURE","algorithm":"ED25519","publicKey64":"${key}"}${more}}`;

describe("a mono instance refuses", () => {
  it.each<[string, string, string, string]>([
    ["nothing", "", "INVALID_REQUEST_BODY", ""],
    ["no JSON", "{", "INVALID_REQUEST_BODY", ""],
    ["an array", "[]", "INVALID_REQUEST_BODY", ""],
    ["a duplicate key", withKey(',"id":"y"'), "INVALID_REQUEST_BODY", "/id"],
    ["a duplicate key spelt differently", withKey(',"\\u0069d":"y"'), "INVALID_REQUEST_BODY", "/id"],
    ["an unknown field", withKey(',"extra":1'), "INVALID_REQUEST_BODY", "/extra"],
    ["an explicit null", withKey(',"metadata":null'), "INVALID_REQUEST_BODY", "/metadata"],
    ["trailing bytes", `${valid} x`, "INVALID_REQUEST_BODY", ""],
    ["a wrong type", withKey(',"metadata":{"a":1}'), "INVALID_REQUEST_BODY", "/metadata/a"],
    ["too much depth", "[".repeat(65), "INVALID_REQUEST_BODY", `${"/0".repeat(64)}`],
    ["a missing field", '{"id":"x"}', "INVALID_REQUEST_BODY", "/credential"],
    ["a bad id", withKey("").replace('"x"', '"-x"'), "INVALID_REQUEST_BODY", "/id"],
    [
      "an unknown algorithm",
      withKey("").replace("ED25519", "ed25519"),
      "UNSUPPORTED_ALGORITHM",
      "/credential/algorithm",
    ],
    [
      "a key of low order",
      withKey("").replace(key, `AQ${"A".repeat(41)}=`),
      "INVALID_PUBLIC_KEY",
      "/credential/publicKey64",
    ],
    ["metadata over a limit", withKey(`,"metadata":{"a":"${"b".repeat(513)}"}`), "INVALID_METADATA", "/metadata/a"],
  ])("%s", async (_name, body, code, pointer) => {
    const refused = await cluster.post(1, APPROVERS, body);
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
    expect(refused.json).toMatchObject({ status: 400, code, retryable: false, errors: [{ pointer }] });
    expect(Object.keys(refused.json).toSorted()).toEqual(
      ["code", "detail", "errors", "hint", "instance", "requestId", "retryable", "status", "title", "type"].toSorted(),
    );
    expect(refused.status).toBe(400);
  });

  it("every fault of a body at once, by pointer", async () => {
    const { json } = await cluster.post(1, APPROVERS, '{"id":1,"credential":{"type":"X"},"more":true}');
    const { errors } = json;
    expect(Array.isArray(errors) && errors.map(({ pointer }) => String(pointer)).toSorted()).toEqual(
      ["/credential/algorithm", "/credential/publicKey64", "/credential/type", "/id", "/more"].toSorted(),
    );
  });

  it("a token that is missing, bad, repeated, expired or without the permission, before it reads the body", async () => {
    const unread = { "content-type": "text/plain" };
    const missing = await fetch(`${cluster.server(1).url}${APPROVERS}`, { method: "POST", headers: unread, body: "{" });
    expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([
      401,
      'JWT realm="custody", header="X-JWT-TOKEN"',
    ]);
    const [head, payload, signature] = cluster.token.split(".");
    const tampered = `${head}.${payload}.${signature?.split("").toReversed().join("")}`;
    const expired = await cluster.mint(allPermissions, 1_000, Date.now() - 60_000);
    for (const token of ["", "x", tampered, expired, `${cluster.token}, ${cluster.token}`]) {
      const { status, json, text } = await cluster.post(1, APPROVERS, "{", { ...unread, "x-jwt-token": token });
      expect([status, json["code"]]).toEqual([401, "UNAUTHENTICATED"]);
      if (token.length > 1) expect(text).not.toContain(token);
    }
    const reader = await cluster.mint(["service.approvers.read", "-service.system.*"]);
    for (const path of [APPROVERS, "/v1/custody/system/init", "/v1/custody/system/unseal", "/v1/custody/system/seal"]) {
      const { status, json } = await cluster.post(1, path, "{", { ...unread, "x-jwt-token": reader });
      expect([status, json["code"]]).toEqual([403, "ACCESS_DENIED"]);
    }
    const writer = await cluster.mint(["service.approvers.register"]);
    const hidden = await cluster.get(1, `${APPROVERS}/nonsense`, { "x-jwt-token": writer });
    expect([hidden.status, hidden.json["code"]]).toEqual([403, "ACCESS_DENIED"]);
  });

  it.each([0, 3_000])("a token repeated in two header lines with %i others between them", async (between) => {
    const lines = [
      `POST ${APPROVERS} HTTP/1.1`,
      "host: x",
      `x-jwt-token: ${cluster.token}`,
      ...Array.from({ length: between }, () => "a:"),
      `x-jwt-token: ${cluster.token}`,
    ];
    expect(await exchange([...lines, "connection: close", "content-length: 0", "", ""].join("\r\n"))).toMatch(
      /^HTTP\/1\.1 401 [\s\S]*is repeated/,
    );
  });

  it("an unknown path with 404 and a known one with another method with 405", async () => {
    for (const path of [
      "/",
      "/v1/custody/approvers/",
      "/v1/custody/approvers/a/b",
      "/v1/custody/approverz",
      "/metrics",
    ])
      expect((await cluster.get(1, path)).json["code"]).toBe("NOT_FOUND");
    const put = await fetch(`${cluster.server(1).url}${APPROVERS}`, { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "POST, GET, HEAD"]);
    const posted = await cluster.post(1, `${APPROVERS}/alice`, {});
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    const init = await cluster.get(1, "/v1/custody/system/init");
    expect([init.status, init.json["code"]]).toEqual([405, "METHOD_NOT_ALLOWED"]);
  });

  it("another media type with 415", async () => {
    for (const type of ["text/plain", "application/json; charset=latin1", "application/jsonx", ""]) {
      const { status, json } = await cluster.post(1, APPROVERS, valid, { "content-type": type });
      expect([status, json["code"]]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    }
    const encoded = await cluster.post(1, APPROVERS, valid, { "content-encoding": "gzip" });
    expect(encoded.status).toBe(415);
    expect((await cluster.post(1, APPROVERS, "{", { "content-type": "Application/JSON; charset=UTF-8" })).status).toBe(
      400,
    );
  });

  it("a body one byte past the limit, declared or not", async () => {
    const padded = (bytes: number): string => valid.padEnd(bytes, " ");
    const fits = await cluster.post(1, APPROVERS, padded(Limits.requestBodyBytes));
    expect([200, 201]).toContain(fits.status);
    const tooLarge = await cluster.post(1, APPROVERS, padded(Limits.requestBodyBytes + 1));
    expect([tooLarge.status, tooLarge.json["code"]]).toEqual([413, "BODY_TOO_LARGE"]);
    const body = new Blob([padded(Limits.requestBodyBytes + 1)]).stream();
    const headers = { "x-jwt-token": cluster.token, "content-type": "application/json" };
    const options = { method: "POST", headers, body, duplex: "half" } as const;
    expect((await fetch(`${cluster.server(1).url}${APPROVERS}`, options)).status).toBe(413);
  });

  it("a header past the limit with 431, and takes one within it", async () => {
    const request = (filler: number): string =>
      `GET /v1/custody/system/health HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-filler: ${"a".repeat(filler)}\r\n\r\n`;
    const overhead = request(0).length;
    expect(await exchange(request(maxHeaderBytes - overhead - 64))).toMatch(/^HTTP\/1\.1 200 /);
    const refused = await exchange(request(maxHeaderBytes + 1));
    expect(refused).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"HEADERS_TOO_LARGE"/);
    expect(refused).not.toContain("aaaa");
  });

  it("what is not HTTP with 400", async () => {
    for (const nonsense of [
      "nonsense\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0]),
    ])
      expect(await exchange(nonsense)).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"BAD_REQUEST"/);
    const twice = `POST ${APPROVERS} HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`;
    expect(await exchange(twice)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("a request without one Host, a tunnel, and a body whose framing breaks, in a problem with a request id", async () => {
    const health = "GET /v1/custody/system/health HTTP/1.1";
    const closing = "connection: close\r\nx-request-id: mine";
    const posting = `POST ${APPROVERS} HTTP/1.1\r\nhost: x\r\nx-jwt-token: ${cluster.token}\r\ncontent-type: application/json`;
    for (const [status, code, raw] of [
      [400, "BAD_REQUEST", `${health}\r\n${closing}\r\n\r\n`],
      [400, "BAD_REQUEST", `${health}\r\nhost: x\r\nhost: y\r\n${closing}\r\n\r\n`],
      [405, "METHOD_NOT_ALLOWED", "CONNECT x:1 HTTP/1.1\r\nhost: x\r\nx-request-id: mine\r\n\r\n"],
      [400, "BAD_REQUEST", `${posting}\r\ntransfer-encoding: chunked\r\nx-request-id: mine\r\n\r\nzz\r\n`],
    ] as const) {
      const refused = await exchange(raw);
      const [head = "", body = ""] = refused.split("\r\n\r\n");
      expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(head).toMatch(/^x-request-id: mine$/im);
      expect(head).toMatch(/^content-type: application\/problem\+json$/im);
      expect(JSON.parse(body)).toMatchObject({ status, code, requestId: "mine" });
    }
  });

  it("no expectation that it does not know: it is passed over", async () => {
    const raw = "GET /v1/custody/system/health HTTP/1.1\r\nhost: x\r\nexpect: more\r\nconnection: close\r\n\r\n";
    expect(await exchange(raw)).toMatch(/^HTTP\/1\.1 200 [\s\S]*x-request-id: /);
  });

  it("init a second time, a wrong share and a wrong init body", async () => {
    const again = await cluster.post(1, "/v1/custody/system/init", { peerId: 1, threshold: 1, total: 1 });
    expect([again.status, again.json["code"]]).toEqual([409, "ALREADY_INITIALIZED"]);
    const body = await cluster.post(1, "/v1/custody/system/init", '{"peerId":"1","threshold":null,"x":1}');
    expect(body.json).toMatchObject({
      code: "INVALID_REQUEST_BODY",
      errors: [
        { pointer: "/x", code: "unknown_field" },
        { pointer: "/peerId", code: "wrong_type" },
        { pointer: "/threshold", code: "null_value" },
        { pointer: "/total", code: "missing_field" },
      ],
    });
  });
});

describe("a request target in absolute form", () => {
  const asked = (target: string): Promise<string> =>
    exchange(`GET ${target} HTTP/1.1\r\nhost: elsewhere\r\nconnection: close\r\n\r\n`);
  const health = "/v1/custody/system/health";

  it.each(["http://x", "HTTPS://x.example:7300", "http://[2001:db8::1]:7300", "http://"])("%s", async (site) => {
    const status = site.endsWith("//") ? 400 : 200;
    expect(await asked(`${site}${health}`)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(await asked(`${site}${health}?a=http://b`)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it("asks for the path behind its authority, and for nothing else", async () => {
    for (const target of ["http://x", "http://x?a=/v1", `http://x/y${health}`])
      expect(await asked(target)).toMatch(/^HTTP\/1\.1 404 [\s\S]*"code":"NOT_FOUND"/);
    for (const target of [`ftp://x${health}`, `http://user:secret@x${health}`, `http://x y${health}`]) {
      const refused = await asked(target);
      expect(refused).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"BAD_REQUEST"/);
      expect(refused).not.toContain("secret");
    }
  });
});

describe("what comes whole", () => {
  it.each([
    ["that is no HTTP", "nonsense\r\n\r\n"],
    ["of control characters", "\u0000\u0001\u0002"],
  ])("is answered before what follows it %s ends the connection", async (_name, rest) => {
    const body = JSON.stringify(registration("before-garbage", key));
    const head = `POST ${APPROVERS} HTTP/1.1\r\nhost: x\r\nx-jwt-token: ${cluster.token}\r\ncontent-type: application/json`;
    const answered = await exchange(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}${rest}${rest}`);
    const [first, second, ...more] = answered.split(/(?=HTTP\/1\.1 \d)/);
    expect(first).toMatch(/^HTTP\/1\.1 20[01] [\s\S]*"before-garbage"/);
    expect(second).toMatch(/^HTTP\/1\.1 400 [\s\S]*"code":"BAD_REQUEST"/);
    expect(more).toEqual([]);
  });

  it("is not answered with the refusal of a tunnel behind it: the connection is cut, and the change goes on", async () => {
    const body = JSON.stringify(registration("before-tunnel"));
    const head = `POST ${APPROVERS} HTTP/1.1\r\nhost: x\r\nx-jwt-token: ${cluster.token}\r\ncontent-type: application/json`;
    const tunnel = "CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n";
    expect(await exchange(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}${tunnel}`)).toBe("");
    // Of a registration that is there already, 200.
    expect((await cluster.post(1, APPROVERS, body)).status).toBe(200);
  });
});

describe("every answer", () => {
  it("forbids guessing its type, and says nothing of TLS where there is none", async () => {
    for (const path of ["/v1/custody/system/health", "/nowhere"]) {
      const { headers } = await cluster.get(1, path);
      expect([headers.get("x-content-type-options"), headers.get("strict-transport-security")]).toEqual([
        "nosniff",
        null,
      ]);
    }
    expect(await exchange("nonsense\r\n\r\n")).toMatch(/^x-content-type-options: nosniff\r$/m);
  });

  it("has a request id: the caller's when it is harmless", async () => {
    const echoed = "a.B_c-1".padEnd(128, "0");
    const id = async (given: string) =>
      (await cluster.get(1, "/v1/custody/system/health", { "x-request-id": given })).headers.get("x-request-id");
    expect(await id(echoed)).toBe(echoed);
    for (const refused of [`${echoed}0`, "a b", "<x>", ""]) expect(await id(refused)).toMatch(/^[0-9a-f-]{36}$/);
    const problem = await cluster.get(1, "/nowhere", { "x-request-id": "mine" });
    expect(problem.json).toMatchObject({ requestId: "mine", instance: "urn:custody:request:mine" });
  });

  it("to HEAD is the one to GET without its body", async () => {
    const head = await fetch(`${cluster.server(1).url}/v1/custody/system/health`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });
});
