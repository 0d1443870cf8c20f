import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "./ConfigFile.ts";
import { settings, variableName } from "./Environment.ts";
import { configFolder, least, origins } from "../../properties/LoadedConfig.ts";

const { accepted, folder, load, problems } = configFolder();

const withUrl = (url: string): string => `peer: {data-dir: d}\nauth: {audience: a, jwks: {url: "${url}"}}\n`;

const urls = (count: number): string =>
  Array.from({ length: count }, (_, index) => `${index + 1}=https://p${index}:1`).join(",");

describe("a file with only what is required", () => {
  it("gets every default", async () => {
    expect(await accepted(least)).toEqual({
      peer: { dataDir: join(folder, "data"), logLevel: "info" },
      http: { host: "127.0.0.1", port: 7300 },
      peerHttp: { host: "127.0.0.1", port: 7400 },
      cluster: { peers: [] },
      auth: {
        audience: "custody",
        jwks: { file: join(folder, "jwks.json") },
        jwksMaxAgeMillis: 86_400_000,
        algorithms: ["EdDSA", "ES256", "ES384", "RS256", "PS256"],
        tokenTypes: ["JWT", "at+jwt", "absent"],
      },
      seal: { provider: "shamir", shares: 5, threshold: 3 },
      approvers: { answerTimeoutMillis: 10_000 },
      features: ["core"],
      authorities: { arbitrary: true },
      crypto: { backend: "native" },
      webauthn: {
        enabled: false,
        origins: [],
        registrationTtlMillis: 300_000,
        attestation: "none",
        trustRoots: [],
      },
      audit: { sinks: { stdout: false } },
      limits: {
        bodyBytesInFlight: 67_108_864,
        bodyBytesPerActor: 12_582_912,
        bodyBytesPerAddress: 16_777_216,
        connections: 2048,
        connectionsPerAddress: 256,
        requestsPerConnection: 32,
        idleTimeoutMillis: 75_000,
        writeTimeoutMillis: 30_000,
      },
      development: false,
    });
  });

  it("may leave sections empty", async () => {
    const config = await accepted(`${least}limits:\ncluster:\nhttp:\n`);
    expect(config.limits.bodyBytesInFlight).toBe(67_108_864);
  });

  it("may come from the environment alone", async () => {
    const config = await accepted("# nothing here\n", {
      CUSTODY_PEER_DATA_DIR: "/var/lib/custody",
      CUSTODY_AUTH_AUDIENCE: "custody",
      CUSTODY_AUTH_JWKS_URL: "https://issuer.example/keys",
    });
    expect(config.auth.jwks).toEqual({ url: "https://issuer.example/keys" });
  });
});

describe("a listener for metrics", () => {
  const metrics = (yaml: string): string => `${least}metrics: ${yaml}\n`;

  it("is on loopback, or anywhere with TLS or a word for it", async () => {
    expect((await accepted(metrics("{port: 7500}"))).metrics).toEqual({
      host: "127.0.0.1",
      port: 7500,
      inClear: false,
    });
    expect((await accepted(metrics("{host: 0.0.0.0, port: 0, in-clear: true}"))).metrics?.inClear).toBe(true);
    expect((await accepted(least, { CUSTODY_METRICS_PORT: "7500" })).metrics?.port).toBe(7500);
    expect(await problems(metrics("{host: 0.0.0.0, port: 7500}"))).toEqual([
      expect.stringMatching(/^metrics\.tls: is missing although the host is not a loopback address/),
    ]);
  });

  it("has a port of its own, and stays on loopback in development", async () => {
    expect(await problems(metrics("{}"))).toEqual([expect.stringMatching(/^metrics\.port: is required/)]);
    for (const port of [7300, 7400])
      expect(await problems(metrics(`{port: ${port}}`))).toEqual([
        expect.stringMatching(/^metrics\.port: is the port of/),
      ]);
    expect(await problems(`${metrics("{host: 0.0.0.0, port: 7500, in-clear: true}")}development: true\n`)).toEqual([
      expect.stringMatching(/^metrics\.host: must be a loopback address/),
    ]);
  });
});

describe("the file of an audit sink", () => {
  it("is none of the data directory, however it is written", async () => {
    const at = (path: string): string => `${least}audit: {sinks: {file: {path: "${path}"}}}\n`;
    for (const path of ["data/custody.db", "./x/../data/audit.jsonl", "data/log/audit.jsonl"])
      expect(await problems(at(path))).toEqual([expect.stringMatching(/^audit\.sinks\.file\.path: is in the data/)]);
    for (const path of ["audit.jsonl", "data.jsonl", "data/../audit.jsonl"])
      expect((await accepted(at(path))).audit.sinks.file?.path).toMatch(/(audit|data)\.jsonl$/);
  });
});

describe("all problems are named at once", () => {
  it("with the key's path, what is wrong and what to do", async () => {
    const text = `
peer: {data-dir: data, log-level: loud}
http: {host: 0.0.0.0, prot: 7300}
peer-http: {port: 65536}
cluster: {peers: [{id: 2, url: "https://a:7400/x"}, {id: 0, url: "http://10.0.0.2:7400"}], bootstrap-secret: hunter2hunter2}
auth: {jwks: {file: a, url: "https://b/"}, algorithms: [EdDSA, HS256]}
seal: {shares: 1}
webauthn: {enabled: true, origins: ["http://a.example"]}
surprise: 1
`;
    expect((await problems(text)).toSorted()).toEqual([
      "auth.algorithms.1: must be one of EdDSA, ES256, ES384, RS256, PS256; write one of them",
      "auth.audience: is required; set it in the file or as CUSTODY_AUTH_AUDIENCE",
      "auth.jwks: must hold exactly one of file and url; keep one",
      "cluster.bootstrap-secret: must name a file and never holds the secret itself; write `file: PATH` below it or set CUSTODY_BOOTSTRAP_SECRET",
      "cluster.peers.0.url: must hold only scheme, host and port; remove the path and query",
      "cluster.peers.1.id: must be a whole number from 1 to 65535; write such a number",
      "cluster.peers.1.url: has no TLS and is not a loopback address; use https://",
      "http.prot: unknown key; remove it or use one of host, port, tls",
      "peer-http.port: must be a whole number from 0 to 65535; write such a number",
      "peer.log-level: must be one of debug, info, warn, error; write one of them",
      "seal.shares: must be a whole number from 2 to 255; write such a number",
      "surprise: unknown key; remove it or use one of peer, http, peer-http, metrics, telemetry, cluster, auth, seal, approvers, features, authorities, crypto, webauthn, audit, limits, development",
      'webauthn.origins.0: "http://a.example" has no TLS, which only http://localhost may lack; use https://',
    ]);
  });

  it("with examples that are in range", async () => {
    expect(await problems(`${least}limits: {body-bytes-per-actor: 8MiB}\n`)).toEqual([
      "limits.body-bytes-per-actor: must be a size from 10MiB to 4GiB, such as 64MiB or 1GiB; write a number and a unit",
    ]);
    let tried = 0;
    for (const { path } of settings) {
      const faultOf = async (value: string): Promise<string | undefined> => {
        const found = await problems(path.reduceRight((below, key) => `{${key}: ${below}}`, value));
        return found.find((each) => each.startsWith(`${path.join(".")}: `));
      };
      const [, examples] = / must be a (?:size|duration) .* such as ([^;]+);/.exec((await faultOf("8x")) ?? "") ?? [];
      for (const example of examples?.split(/, | or /) ?? []) {
        tried += 1;
        expect(await faultOf(example)).toBeUndefined();
      }
    }
    expect(tried).toBeGreaterThan(20);
  });

  it("never with a submitted value", async () => {
    const isPublic = ["webauthn.rp-id", "webauthn.origins"];
    const values = ["hunter2", "[hunter2]", "{hunter2x: 1}", "12.5", "null", "https://hunter2:hunter2@a:1/hunter2"];
    for (const { path } of settings.filter((each) => !isPublic.includes(each.path.join(".")))) {
      for (const value of values) {
        const text = path.reduceRight((below, key) => `{${key}: ${below}}`, value);
        const result = await load(text);
        const shown = Either.isLeft(result) ? result.left.message.replace("hunter2x: unknown key", "") : "";
        expect(shown).not.toMatch(/hunter2|12\.5/);
      }
    }
  });

  it("also where a section is no section", async () => {
    const sections = settings.flatMap(({ path }) => path.slice(0, -1).map((_, index) => path.slice(0, index + 1)));
    for (const path of sections) {
      const result = await load(path.reduceRight((below, key) => `{${key}: ${below}}`, "hunter2"));
      const shown = Either.isLeft(result) ? result.left.message : "";
      expect(shown).toContain(`${path.join(".")}: must `);
      expect(shown).not.toContain("hunter2");
    }
  });

  it("with at most fifty lines", async () => {
    const surplus = Array.from({ length: 60 }, (_, index) => `k${index}: 1`).join("\n");
    const error = Either.getOrThrow(Either.flip(await load(`${least}${surplus}\n`)));
    expect(error.message.split("\n")).toHaveLength(51);
    expect(error.message).toMatch(/and 10 more$/);
  });

  it("with hostile keys quoted and cut", async () => {
    const [problem] = await problems(`${least}"a\\e[31m${"x".repeat(900)}": 1\n`);
    expect(problem?.startsWith('"a\\u001b[31mxxx')).toBe(true);
    expect(problem?.length).toBeLessThan(300);
    expect(await problems(`${least}__proto__: {x: 1}\n`)).toHaveLength(1);
  });
});

describe("the file itself", () => {
  it("is bounded at 256 KiB", async () => {
    const padded = `${least}#`.padEnd(256 * 1024, "x");
    expect(Either.isRight(await load(padded))).toBe(true);
    expect((await problems(`${padded}x`))[0]).toMatch(/^--config: \S+peer\.yaml is larger than 262144 bytes/);
  });

  it("must exist, be text and hold a mapping", async () => {
    const absent = await Effect.runPromise(Effect.flip(loadConfig(join(folder, "absent.yaml"), {})));
    expect(absent.message).toMatch(/^--config: \S+absent\.yaml does not exist/);
    expect((await problems(Uint8Array.of(0xff)))[0]).toMatch(/UTF-8/);
    expect(await problems("- 1\n")).toEqual(["the file: must be a mapping of keys; indent its keys below it"]);
    expect((await problems("peer: {}\npeer: {}\n"))[0]).toMatch(/line 2: a key stands twice/);
  });
});

describe("the environment", () => {
  it("has one name for every setting", () => {
    const names = settings.map((setting) => variableName(setting.path));
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain("CUSTODY_PEER_HTTP_TLS_KEY");
    expect(names).toContain("CUSTODY_CLUSTER_BOOTSTRAP_SECRET_FILE");
    expect(names).not.toContain("CUSTODY_BOOTSTRAP_SECRET");
    expect(names).not.toContain("CUSTODY_TOKEN");
  });

  it("overrides every value of the file", async () => {
    const config = await accepted(`${least}http: {port: 1, tls: {cert: a, key: b}}\ndevelopment: true\n`, {
      CUSTODY_HTTP_PORT: "7301",
      CUSTODY_HTTP_TLS_CERT: "/etc/custody/cert.pem",
      CUSTODY_CLUSTER_PEERS: "2=https://a.example:7400, 3=https://b.example:7400/",
      CUSTODY_AUTH_ALGORITHMS: "ES256",
      CUSTODY_AUTHORITIES_ARBITRARY: "false",
      CUSTODY_APPROVERS_ANSWER_TIMEOUT: "2s",
      CUSTODY_LIMITS_BODY_BYTES_IN_FLIGHT: "1GiB",
      CUSTODY_DEVELOPMENT: "false",
      CUSTODY_TOKEN: "not looked at",
      CUSTODY_BOOTSTRAP_SECRET: "not looked at",
      PATH: "/bin",
    });
    expect(config.http).toEqual({
      host: "127.0.0.1",
      port: 7301,
      tls: { cert: "/etc/custody/cert.pem", key: join(folder, "b") },
    });
    expect(config.cluster.peers).toEqual([
      { id: 2, url: "https://a.example:7400" },
      { id: 3, url: "https://b.example:7400" },
    ]);
    expect(config.auth.algorithms).toEqual(["ES256"]);
    expect(config.authorities.arbitrary).toBe(false);
    expect(config.approvers.answerTimeoutMillis).toBe(2000);
    expect(config.limits.bodyBytesInFlight).toBe(1024 ** 3);
    expect(config.development).toBe(false);
  });

  it("names the variable when its value is refused, and refuses unknown ones", async () => {
    const env = { CUSTODY_HTTP_PORT: "hunter2", CUSTODY_HTP_PORT: "1", CUSTODY_DEVELOPMENT: "yes" };
    expect(await problems(least, env)).toEqual([
      "CUSTODY_HTP_PORT: names no setting; unset it (in Kubernetes, enableServiceLinks: false keeps such variables out)",
      "http.port (from CUSTODY_HTTP_PORT): must be a whole number from 0 to 65535; write such a number",
      "development (from CUSTODY_DEVELOPMENT): must be true or false; write one of both",
    ]);
    expect(await problems(least, { CUSTODY_HTP_PORT: "1" })).toHaveLength(1);
    expect(await problems(least, { CUSTODY_CLUSTER_PEERS: "2=https://b.example:7400, 3" })).toEqual([
      "cluster.peers.1 (from CUSTODY_CLUSTER_PEERS): must be ID=URL, several separated by commas; write it as 2=https://peer2.example:7400",
    ]);
  });

  it("empties a list with an empty variable", async () => {
    const config = await accepted(`${least}cluster: {peers: [{id: 2, url: "https://a:1"}]}\n`, {
      CUSTODY_CLUSTER_PEERS: "",
    });
    expect(config.cluster.peers).toEqual([]);
  });
});

describe("what leaves this machine has TLS", () => {
  const tls = "tls: {cert: c, key: k}";
  it.each([
    ["http: {host: 0.0.0.0}", ["http.tls"]],
    ["peer-http: {host: 10.0.0.1}", ["peer-http.tls"]],
    ["http: {host: custody.example}", ["http.tls"]],
    [`http: {host: 0.0.0.0, ${tls}}`, []],
    ["http: {host: '::1'}", []],
    ["http: {host: localhost}", []],
    [
      "cluster: {peers: [{id: 2, url: 'http://127.0.0.2:1'}, {id: 3, url: 'http://[::1]:1'}, {id: 4, url: 'https://a:1'}]}",
      [],
    ],
    ["cluster: {peers: [{id: 2, url: 'http://a:1'}]}", ["cluster.peers.0.url"]],
    ["cluster: {peers: [{id: 2, url: 'ftp://a:1'}]}", ["cluster.peers.0.url"]],
    ["cluster: {peers: [{id: 2, url: 'https://u:p@a:1'}]}", ["cluster.peers.0.url"]],
    ["cluster: {peers: [{id: 2, url: 'https://a:1#x'}]}", ["cluster.peers.0.url"]],
    ["cluster: {peers: [{id: 2, url: 'https://a:1'}, {id: 3, url: 'https://A:1/'}]}", ["cluster.peers"]],
    ["cluster: {peers: [{id: 2, url: 'https://a:1'}, {id: 2, url: 'https://b:1'}]}", ["cluster.peers"]],
    [`development: true\nhttp: {host: 0.0.0.0, ${tls}}`, ["http.host"]],
    ["development: true\ncluster: {peers: [{id: 2, url: 'https://a:1'}]}", ["cluster.peers.0.url"]],
    ["http: {tls: {cert: c}}", ["http.tls.key"]],
    ["peer-http: {port: 7300}", ["peer-http.port"]],
    ["peer-http: {port: 7300, host: localhost}", ["peer-http.port"]],
    ["http: {port: 0}\npeer-http: {port: 0}", []],
    ["cluster: {peers: [{id: 2, url: 'http://127.0.0.1:7400'}]}", ["cluster.peers.0.url"]],
    ["cluster: {peers: [{id: 2, url: 'http://127.0.0.1:7401'}]}", []],
    [
      `peer-http: {host: Peer1, port: 443, ${tls}}\ncluster: {peers: [{id: 2, url: 'https://peer1'}]}`,
      ["cluster.peers.0.url"],
    ],
  ])("%s", async (lines, refused) => {
    const result = await load(`${least}${lines}\n`);
    const paths = Either.isLeft(result) ? result.left.problems.map((problem) => problem.path) : [];
    expect(paths).toEqual(refused);
  });

  it("and a peer does not list itself", async () => {
    const listing = `${least}cluster: {peers: [{id: 2, url: "https://a:1"}]}\n`;
    expect((await accepted(listing, { CUSTODY_PEER_ID: "1" })).cluster.peers).toHaveLength(1);
    const refused = await load(listing, { CUSTODY_PEER_ID: "2" });
    expect(Either.getOrThrow(Either.flip(refused)).message).toBe(
      "cluster.peers.0.id: is this peer's own peer.id; list the other peers only",
    );
  });

  it("also the address of the keys", async () => {
    expect(Either.isRight(await load(withUrl("http://localhost:8080/keys?x=1")))).toBe(true);
    expect(await problems(withUrl("http://issuer.example/keys"))).toEqual([
      "auth.jwks.url: has no TLS and is not a loopback address; use https://",
    ]);
  });
});

describe("limits, at the limit and one past it", () => {
  it.each([
    ["CUSTODY_CLUSTER_PEERS", urls(63), urls(64)],
    ["CUSTODY_SEAL_SHARES", "255", "256"],
    ["CUSTODY_SEAL_THRESHOLD", "2", "1"],
    ["CUSTODY_SEAL_THRESHOLD", "5", "6"],
    ["CUSTODY_APPROVERS_ANSWER_TIMEOUT", "1s", "999ms"],
    ["CUSTODY_APPROVERS_ANSWER_TIMEOUT", "60s", "61s"],
    ["CUSTODY_APPROVERS_ANSWER_TIMEOUT", "1m", "1 m"],
    ["CUSTODY_AUTH_JWKS_MAX_AGE", "7d", "169h"],
    ["CUSTODY_AUTH_JWKS_MAX_AGE", "1m", "59s"],
    ["CUSTODY_LIMITS_BODY_BYTES_IN_FLIGHT", "10MiB", "10239KiB"],
    ["CUSTODY_LIMITS_BODY_BYTES_PER_ACTOR", "10MiB", "10239KiB"],
    ["CUSTODY_LIMITS_BODY_BYTES_PER_ADDRESS", "10MiB", "10239KiB"],
    ["CUSTODY_LIMITS_BODY_BYTES_IN_FLIGHT", "4GiB", "4097MiB"],
    ["CUSTODY_AUTH_AUDIENCE", "a".repeat(256), "a".repeat(257)],
    ["CUSTODY_AUTH_AUDIENCE", "a", ""],
    ["CUSTODY_AUTH_ALGORITHMS", "EdDSA", ""],
    ["CUSTODY_AUTH_ALGORITHMS", "EdDSA,ES256", "EdDSA,EdDSA"],
    ["CUSTODY_HTTP_PORT", "65535", "65536"],
    ["CUSTODY_HTTP_HOST", "127.0.0.1", "127.0.0.1:7300"],
    ["CUSTODY_WEBAUTHN_REGISTRATION_TTL", "10m", "601s"],
    ["CUSTODY_WEBAUTHN_REGISTRATION_TTL", "1s", "999ms"],
    ["CUSTODY_WEBAUTHN_ORIGINS", origins(16), origins(17)],
    ["CUSTODY_PEER_DATA_DIR", `/${"a".repeat(4095)}`, `/${"a".repeat(4096)}`],
  ])("%s", async (name, inside, outside) => {
    expect(Either.isRight(await load(least, { [name]: inside }))).toBe(true);
    expect(await problems(least, { [name]: outside })).toHaveLength(1);
  });
});

describe("docs/config.example.yaml", () => {
  const example = new URL("../../docs/config.example.yaml", import.meta.url);

  it("loads", async () => {
    const config = await accepted(readFileSync(example, "utf8"));
    expect(config.peer.dataDir).toBe("/var/lib/custody");
  });

  it("names every setting and its variable", () => {
    const text = readFileSync(example, "utf8");
    const tree: unknown = parse(text);
    for (const { path } of settings) {
      if (path.join(".") !== "auth.jwks.file") expect(tree).toHaveProperty([...path]);
      expect(text).toContain(variableName(path));
    }
  });
});
