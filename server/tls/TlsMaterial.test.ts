import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, get } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Either, Schema } from "effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { issue } from "../../properties/http/Certificates.ts";
import { type Config, configSchema } from "../config/ConfigSchema.ts";
import { withSections } from "../config/Environment.ts";
import { type ListenerTls, loadTls, type PeerClientTls, type TlsMaterial } from "./TlsMaterial.ts";

const keyPem = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();

const authority = issue("authority", undefined);
const stranger = issue("stranger", undefined);
const peer = issue("peer", authority);

let folder: string;
const write = (name: string, content: string | Uint8Array, mode = 0o600): void => {
  writeFileSync(join(folder, name), content);
  chmodSync(join(folder, name), mode);
};
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-tls-"));
  write("cert.pem", peer.pem);
  write("key.pem", keyPem(peer.key));
  write("ca.pem", authority.pem);
  write("stranger-cert.pem", stranger.pem);
  write("stranger-key.pem", keyPem(stranger.key));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

type Files = Readonly<Record<string, string>>;

const config = (http?: Files, peerHttp?: Files): Config =>
  Schema.decodeUnknownSync(configSchema(folder))(
    withSections({
      peer: { "data-dir": "a" },
      auth: { audience: "custody", jwks: { file: "jwks.json" } },
      http: http === undefined ? {} : { tls: http },
      "peer-http": peerHttp === undefined ? {} : { tls: peerHttp },
    }),
  );
const load = (http?: Files, peerHttp?: Files): Promise<TlsMaterial> =>
  Effect.runPromise(loadTls(config(http, peerHttp)));
const problems = async (http?: Files, peerHttp?: Files): Promise<ReadonlyArray<string>> => {
  const result = await Effect.runPromise(Effect.either(loadTls(config(http, peerHttp))));
  return Either.getOrThrow(Either.flip(result)).message.split("\n");
};

const good: Files = { cert: "cert.pem", key: "key.pem" };
const mutual: Files = { ...good, ca: "ca.pem" };

describe("loadTls", () => {
  it("needs no files where there is no TLS", async () => {
    expect(await load()).toEqual({
      http: undefined,
      peerHttp: undefined,
      peerClient: { rejectUnauthorized: true, minVersion: "TLSv1.3" },
    });
  });

  it("asks for certificates of callers exactly when it has authorities", async () => {
    const loaded = await load(good, mutual);
    expect(loaded.http).toMatchObject({ requestCert: false, rejectUnauthorized: false, minVersion: "TLSv1.2" });
    expect(loaded.http).not.toHaveProperty("ca");
    expect(loaded.peerHttp).toMatchObject({ requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.3" });
    expect(loaded.peerClient.ca?.toString()).toBe(authority.pem);
  });

  it("takes a chain", async () => {
    write("chain.pem", `# the peer\n${peer.pem}\n${authority.pem}`);
    expect((await load({ ...good, cert: "chain.pem" })).http?.cert.toString()).toContain("# the peer");
  });

  it("names every bad file by its key", async () => {
    const missing = join(folder, "no.pem");
    expect(
      await problems({ cert: "no.pem", key: "no.pem", ca: "no.pem" }, { ...good, key: "stranger-key.pem" }),
    ).toEqual([
      `http.tls.cert: ${missing} does not exist; create it or correct the path`,
      `http.tls.key: ${missing} does not exist; create it or correct the path`,
      `http.tls.ca: ${missing} does not exist; create it or correct the path`,
      `peer-http.tls.key: ${join(folder, "stranger-key.pem")} does not belong to the first certificate of the cert file; name the key it was issued for`,
    ]);
  });

  it("refuses files that hold something else", async () => {
    write("empty.pem", "");
    write("half.pem", `${peer.pem}${peer.pem.replace("MII", "AAA")}`);
    const noCertificate = "holds no PEM certificate, or a malformed one; name a file of BEGIN CERTIFICATE blocks";
    expect(await problems({ cert: "key.pem", key: "cert.pem", ca: "empty.pem" })).toEqual([
      `http.tls.cert: ${join(folder, "key.pem")} ${noCertificate}`,
      `http.tls.key: ${join(folder, "cert.pem")} holds no PEM private key; name a file with a BEGIN PRIVATE KEY block`,
      `http.tls.ca: ${join(folder, "empty.pem")} ${noCertificate}`,
    ]);
    expect(await problems({ ...mutual, ca: "half.pem" })).toEqual([
      `http.tls.ca: ${join(folder, "half.pem")} ${noCertificate}`,
    ]);
  });

  it("refuses a key that is encrypted, weak or open to everyone", async () => {
    const encrypted = peer.key.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "hunter2" });
    write("encrypted.pem", encrypted.toString());
    expect(await problems({ ...good, key: "encrypted.pem" })).toEqual([
      `http.tls.key: ${join(folder, "encrypted.pem")} is encrypted; store it without a passphrase and run chmod 600 on it`,
    ]);
    const weak = issue("weak", authority, { pair: generateKeyPairSync("rsa", { modulusLength: 512 }) });
    write("weak-cert.pem", weak.pem);
    write("weak-key.pem", keyPem(weak.key));
    expect(await problems({ cert: "weak-cert.pem", key: "weak-key.pem" })).toEqual([
      `http.tls.cert: ${join(folder, "weak-cert.pem")} is not accepted by the TLS library; use a certificate with an ECDSA P-256 or RSA 2048 key`,
    ]);
    write("open.pem", keyPem(peer.key), 0o644);
    expect((await problems({ ...good, key: "open.pem" }))[0]).toMatch(/^http\.tls\.key: .*chmod 600/);
  });

  it.each([
    ["cert", 256 * 1024, ["http.tls.cert"]],
    ["key", 64 * 1024, ["http.tls.key"]],
    ["ca", 1024 * 1024, ["http.tls.ca"]],
  ])("bounds the %s file", async (name, limit, refused) => {
    const content = { cert: peer.pem, key: keyPem(peer.key), ca: authority.pem }[name] ?? "";
    write("padded.pem", content.padEnd(limit, "\n"));
    expect((await load({ ...mutual, [name]: "padded.pem" })).http).toBeDefined();
    write("padded.pem", content.padEnd(limit + 1, "\n"));
    const lines = await problems({ ...mutual, [name]: "padded.pem" });
    expect(lines.map((line) => line.split(":")[0])).toEqual(refused);
  });
});

/** One request over a fresh listener; the status, or "refused" when the handshake failed. */
const exchange = async (listener: ListenerTls | undefined, client: PeerClientTls): Promise<number | "refused"> => {
  const server = createServer({ ...listener }, (_request, response) => response.writeHead(204).end());
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address() as AddressInfo | null;
  const status = await new Promise<number | "refused">((resolve) => {
    const options = { host: "127.0.0.1", port: address?.port, agent: false, ...client };
    get(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on("error", () => {
      resolve("refused");
    });
  });
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return status;
};

describe("mutual TLS between peers", () => {
  it("lets peers of one authority talk, and nobody else", async () => {
    const { peerHttp, peerClient } = await load(undefined, mutual);
    const { cert, key, ...nameless } = peerClient;
    expect(cert !== undefined && key !== undefined).toBe(true);
    expect(await exchange(peerHttp, peerClient)).toBe(204);
    expect(await exchange(peerHttp, nameless)).toBe("refused");
    const other = await load(undefined, { cert: "stranger-cert.pem", key: "stranger-key.pem", ca: "ca.pem" });
    expect(await exchange(peerHttp, other.peerClient)).toBe("refused");
    expect(await exchange(other.peerHttp, peerClient)).toBe("refused");
  });

  it("trusts no unknown authority when none is configured", async () => {
    const { peerHttp, peerClient } = await load(undefined, good);
    expect(await exchange(peerHttp, peerClient)).toBe("refused");
  });
});
