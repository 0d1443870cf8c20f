/** New certificates for a running cluster, in the middle of its work. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { issue } from "./Certificates.ts";
import { freePort } from "../drill/FreePorts.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

let folder: string;
let cluster: ServerCluster;
const file = (name: string): string => join(folder, name);
const authority = issue("test authority", undefined);

const certify = (subject: string, until?: string, name = "peer"): void => {
  const { pem, key } = issue(subject, authority, until === undefined ? {} : { until });
  writeFileSync(file(`${name}.pem`), pem);
  writeFileSync(file(`${name}.key`), key.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
};

/** The subject a peer's listener shows to a caller with the certificate of the files. */
const shownBy = (id: number, url = cluster.server(id).peerUrl): Promise<string> => {
  const { pem, key } = issue("caller", authority);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: "127.0.0.1",
      port: Number(new URL(url).port),
      cert: pem,
      key: key.export({ type: "pkcs8", format: "pem" }),
      ca: authority.pem,
    });
    socket.on("error", reject);
    socket.on("secureConnect", () => {
      const { subject }: PeerCertificate = socket.getPeerCertificate();
      socket.destroy();
      resolve(String(subject.CN));
    });
  });
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "custody-reload-"));
  writeFileSync(file("ca.pem"), authority.pem);
  certify("first");
  const files = `cert: ${file("peer.pem")}, key: ${file("peer.key")}, ca: ${file("ca.pem")}`;
  cluster = await ServerCluster.found(2, `tls: {${files}}`);
});
afterEach(async () => {
  await cluster.close();
  rmSync(folder, { recursive: true });
});

it("shows renewed certificates on connections from then on, unsealed and ready as before", async () => {
  expect(await shownBy(1)).toBe("first");
  certify("second");
  for (const id of [1, 2]) await cluster.server(id).reload();
  expect(await Promise.all([shownBy(1), shownBy(2)])).toEqual(["second", "second"]);
  expect((await cluster.register(2, registration("alice"))).status).toBe(201);
});

it("keeps what it has where a new file is broken, and says which and why", async () => {
  writeFileSync(file("peer.pem"), "not a certificate");
  await cluster.server(1).reload();
  expect(await shownBy(1)).toBe("first");
  const line = cluster.logs.find((each) => each.includes('"kept":"certificates"'));
  expect(line).toContain(`peer-http.tls.cert: ${file("peer.pem")} holds no PEM certificate`);
  expect((await cluster.register(2, registration("bob"))).status).toBe(201);
});

it("keeps what it has where the new certificate is expired, and does not start with that", async () => {
  certify("late", "200201000000Z");
  await cluster.server(1).reload();
  expect(await shownBy(1)).toBe("first");
  const reason = `peer-http.tls.cert: ${file("peer.pem")}: CN=late expired on 2020-02-01; renew it`;
  expect(cluster.logs.find((each) => each.includes('"kept":"certificates"'))).toContain(reason);
  await cluster.stop(1);
  await expect(cluster.run(1)).rejects.toThrow(reason);
});

it("renews each listener by itself, whatever the certificate of another is", async () => {
  for (const name of ["http", "metrics"]) certify("first", undefined, name);
  await cluster.stop(1);
  await cluster.run(1, {
    CUSTODY_HTTP_TLS_CERT: file("http.pem"),
    CUSTODY_HTTP_TLS_KEY: file("http.key"),
    CUSTODY_METRICS_PORT: String(await freePort()),
    CUSTODY_METRICS_TLS_CERT: file("metrics.pem"),
    CUSTODY_METRICS_TLS_KEY: file("metrics.key"),
  });
  const { url, peerUrl, metricsUrl = "" } = cluster.server(1);
  const shown = () => Promise.all([url, peerUrl, metricsUrl].map((each) => shownBy(1, each)));
  expect(await shown()).toEqual(["first", "first", "first"]);

  for (const name of ["http", "peer"]) certify("second", undefined, name);
  certify("late", "200201000000Z", "metrics");
  await cluster.server(1).reload();
  expect(await shown()).toEqual(["second", "second", "first"]);
  const line = cluster.logs.find((each) => each.includes('"kept":"certificates"'));
  expect(line).toContain('"listener":"metrics"');
  expect(line).toContain(`metrics.tls.cert: ${file("metrics.pem")}: CN=late expired on 2020-02-01`);

  certify("third", undefined, "metrics");
  writeFileSync(file("http.pem"), "not a certificate");
  certify("late", "200201000000Z");
  await cluster.server(1).reload();
  expect(await shown()).toEqual(["second", "second", "third"]);
});

it("keeps what it has where the new certificate is of another authority than the peers trust", async () => {
  const { pem, key } = issue("stranger", issue("other authority", undefined));
  writeFileSync(file("peer.pem"), pem);
  writeFileSync(file("peer.key"), key.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  await cluster.server(1).reload();
  expect(await shownBy(1)).toBe("first");
  expect(cluster.logs.find((each) => each.includes('"kept":"certificates"'))).toContain("the other peers refuse it");
});

it("calls other peers with the renewed certificate", async () => {
  const other = issue("other authority", undefined);
  const { pem, key } = issue("of the other", other);
  // Peer 2 trusts both authorities from now on, peer 1 shows a certificate of the new one.
  writeFileSync(file("ca.pem"), authority.pem + other.pem);
  await cluster.server(2).reload();
  writeFileSync(file("peer.pem"), pem);
  writeFileSync(file("peer.key"), key.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
  await cluster.server(1).reload();
  // And now only the new one: a peer that still showed the old certificate would be turned away.
  writeFileSync(file("ca.pem"), other.pem);
  for (const id of [1, 2]) await cluster.server(id).reload();
  await vi.waitFor(async () => expect((await cluster.register(1, registration("carol"))).status).toBe(201), {
    timeout: 20_000,
    interval: 200,
  });
});
