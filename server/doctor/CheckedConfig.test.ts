import { accessSync, chmodSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { issue } from "../../properties/http/Certificates.ts";
import { openIssuer } from "../../properties/Issuer.ts";
import { checkConfig } from "./CheckedConfig.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-check-"));
const secret = "a-secret-of-this-test-alone-of-40-characters";
const NOW = Date.UTC(2030, 0, 1);
const authority = issue("authority", undefined);

const put = (name: string, text: string, mode = 0o600): void => {
  writeFileSync(join(folder, name), text);
  chmodSync(join(folder, name), mode);
};

const pair = (name: string, certificate: ReturnType<typeof issue>): void => {
  put(`${name}.pem`, certificate.pem);
  put(`${name}.key`, certificate.key.export({ type: "pkcs8", format: "pem" }).toString());
};

beforeAll(async () => {
  await openIssuer(join(folder, "issuer"));
  pair("good", issue("good", authority));
  pair("stranger", issue("stranger", undefined));
  pair("expired", issue("expired", authority, { until: "291231235959Z" }));
  pair("soon", issue("soon", authority, { until: "300115000000Z" }));
  pair("server-only", issue("server-only", authority, { uses: ["1.3.6.1.5.5.7.3.1"] }));
  put("ca.pem", authority.pem);
  put("secret", `${secret}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Parts {
  readonly dataDir?: string;
  readonly tls?: string;
  readonly jwks?: string;
  readonly more?: string;
}

const check = ({ dataDir = "data", tls = "good", jwks = "issuer/jwks.json", more = "" }: Parts = {}) => {
  const text = [
    `peer: {data-dir: ${dataDir}}`,
    `peer-http: {tls: {cert: ${tls}.pem, key: ${tls}.key, ca: ca.pem}}`,
    `auth: {audience: custody, jwks: {file: ${jwks}}}`,
    more,
  ].join("\n");
  put("peer.yaml", text, 0o644);
  return Effect.runPromise(Effect.either(checkConfig(join(folder, "peer.yaml"), {}, NOW)));
};

const accepted = async (parts: Parts = {}) => Either.getOrThrow(await check(parts));
const problems = async (parts: Parts): Promise<ReadonlyArray<string>> => {
  const checked = await check(parts);
  return Either.isLeft(checked) ? checked.left.problems.map(({ path, message }) => `${path}: ${message}`) : [];
};

const others = "cluster: {peers: [{id: 2, url: 'https://127.0.0.1:7402'}]";

describe("a configuration whose files hold", () => {
  it("is accepted with the dates of its certificates, and nothing is made", async () => {
    const { certificates, warnings, digest } = await accepted();
    expect(certificates.map(({ path, subject }) => [path, subject])).toEqual([
      ["peer-http.tls.cert", "CN=good"],
      ["peer-http.tls.ca", "CN=authority"],
    ]);
    expect(warnings).toEqual([]);
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(existsSync(join(folder, "data"))).toBe(false);
  });

  it("has a digest of what peers share, and of nothing else", async () => {
    const { digest } = await accepted();
    expect((await accepted({ dataDir: "elsewhere", tls: "soon" })).digest).toBe(digest);
    expect((await accepted({ more: "authorities: {arbitrary: false}" })).digest).not.toBe(digest);
  });

  it("is warned of what ends soon, and of what is for development", async () => {
    const { warnings } = await accepted({ tls: "soon", more: "development: true" });
    expect(warnings.map(({ path }) => path)).toEqual(["development", "peer-http.tls.cert"]);
    expect(warnings[1]?.message).toContain("expires on 2030-01-15; renew it");
  });

  it("warns of a file of the audit that nothing can be written to, which stops no start", async () => {
    const sink = (path: string) => accepted({ more: `audit: {sinks: {file: {path: ${path}}}}` });
    for (const path of ["audit.jsonl", "new-folder/audit.jsonl"]) expect((await sink(path)).warnings).toEqual([]);
    expect(existsSync(join(folder, "new-folder"))).toBe(false);
    for (const path of ["issuer", "no/such/folder/audit.jsonl"])
      expect((await sink(path)).warnings).toMatchObject([{ path: "audit.sinks.file.path" }]);
  });

  it("needs no secret where a peer is initialized, and is told to remove one", async () => {
    const dataDir = "initialized";
    const home = join(folder, dataDir);
    mkdirSync(home, { mode: 0o700 });
    for (const name of ["custody.db", "custody.initialized"]) put(`${dataDir}/${name}`, "x");
    expect((await accepted({ dataDir, more: `${others}}` })).warnings).toEqual([]);
    const { warnings } = await accepted({ dataDir, more: `${others}, bootstrap-secret: {file: secret}}` });
    expect(warnings.map(({ path }) => path)).toEqual(["cluster.bootstrap-secret.file"]);
    chmodSync(home, 0o755);
    expect(await problems({ dataDir })).toEqual([expect.stringContaining(`chmod 700 ${home}`)]);
    rmSync(join(home, "custody.db"));
    expect(await problems({ dataDir })).toEqual([expect.stringContaining("custody.db")]);
  });
});

describe("a configuration whose files do not hold", () => {
  it("is refused with a collector's header fields that cannot be sent, and not with good ones", async () => {
    const more = 'telemetry: {otlp-endpoint: "https://otel.example", headers-file: otel.headers}';
    put("otel.headers", "Authorization: Bearer hunter2\n");
    expect(await problems({ more })).toEqual([]);
    put("otel.headers", "hunter2\n");
    expect(await problems({ more })).toEqual([
      expect.stringMatching(/^telemetry\.headers-file: .*otel\.headers has no header field in line 1/),
    ]);
    put("otel.headers", "Authorization: Bearer hunter2\n", 0o644);
    expect(await problems({ more })).toEqual([expect.stringContaining("every user may open it")]);
  });

  it("is refused with every problem at once, by its key", async () => {
    put("open.secret", secret, 0o644);
    const found = await problems({
      dataDir: "nowhere/data",
      tls: "expired",
      jwks: "missing.json",
      more: `${others}, bootstrap-secret: {file: open.secret}}`,
    });
    expect(found.map((each) => each.slice(0, each.indexOf(":")))).toEqual([
      "peer.data-dir",
      "peer-http.tls.cert",
      "cluster.bootstrap-secret.file",
      "auth.jwks.file",
    ]);
    expect(found[0]).toMatch(/its parent folder does not exist; have .*nowhere\/data made, and given to the user/);
    expect(found[1]).toContain("CN=expired expired on 2029-12-31");
    expect(found[2]).toContain("run chmod 600");
    expect(found[3]).toContain("does not exist");
    expect(found.join()).not.toContain(secret);
  });

  it("is refused where the other peers would refuse its certificate", async () => {
    expect(await problems({ tls: "stranger" })).toEqual([
      expect.stringMatching(/^peer-http\.tls\.cert: .* is not issued by an authority of peer-http\.tls\.ca/),
    ]);
    expect(await problems({ tls: "server-only" })).toEqual([
      expect.stringMatching(/^peer-http\.tls\.cert: .* is not good for both server and client/),
    ]);
  });

  it("is refused without a secret while there is a cluster to found", async () => {
    expect(await problems({ more: `${others}}` })).toEqual([
      expect.stringMatching(/^cluster\.bootstrap-secret: is required/),
    ]);
    expect(await problems({ more: `${others}, bootstrap-secret: {file: secret}}` })).toEqual([]);
  });

  it("needs no secret where a promotion is to make it a member, and is told that none is read", async () => {
    const target = `${others}, source: {id: 2, identity-key: ${"3d".repeat(32)}}`;
    expect((await accepted({ more: `${target}}` })).warnings).toEqual([]);
    const { warnings } = await accepted({ more: `${target}, bootstrap-secret: {file: missing.secret}}` });
    expect(warnings).toEqual([
      { path: "cluster.bootstrap-secret.file", message: expect.stringContaining("is ignored at a target") },
    ]);
  });

  it("is refused for its settings before any file is looked at", async () => {
    expect(await problems({ jwks: "missing.json", more: "sael: {}" })).toEqual([
      expect.stringMatching(/^sael: unknown key/),
    ]);
  });

  /** A folder in which this user can make nothing. */
  const foreign = ["/", "/proc/1"].find((each) => {
    try {
      accessSync(each, constants.W_OK);
      return false;
    } catch {
      return true;
    }
  });

  it.skipIf(foreign === undefined)("is refused where this user may not make the data folder", async () => {
    expect(await problems({ dataDir: `${foreign}/custody-data` })).toEqual([
      expect.stringMatching(/custody-data does not exist, and this user may not make it; have .* made, and given to/),
    ]);
  });

  it("is refused where the data folder is a file", async () => {
    put("file", "x");
    expect(await problems({ dataDir: "file" })).toEqual([expect.stringContaining("is not a folder")]);
  });
});
