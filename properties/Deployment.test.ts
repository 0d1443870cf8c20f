/** The container file, the Kubernetes manifests, and the script that makes TLS material, which the drill runs peers with. */
import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { Effect } from "effect";
import { afterAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../server/config/ConfigFile.ts";
import { databaseFile, directoryFault, prepareDirectory } from "../server/sqlite/StoreDirectory.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-deploy-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifests = parseAllDocuments(readFileSync("deploy/kubernetes.yaml", "utf8")).map((document) => {
  expect("errors" in document ? document.errors : []).toEqual([]);
  return document.toJS();
});
const manifest = (kind: string, name = "custody") =>
  manifests.find((each) => each.kind === kind && each.metadata.name === name);
const { spec } = manifest("StatefulSet").spec.template;
const [container] = spec.containers;
const containerFile = readFileSync("deploy/Containerfile", "utf8");
const program: string = JSON.parse(readFileSync("package.json", "utf8")).bin.custody;

/** What a node does to a volume before a pod has it, where the pod names an `fsGroup`; all but the owners. */
const mount = (volume: string, { fsGroupChangePolicy: policy }: { readonly fsGroupChangePolicy?: string }): void => {
  const wanted = (path: string): number => (statSync(path).isDirectory() ? 0o2770 : 0o660);
  if (policy === "OnRootMismatch" && (statSync(volume).mode & wanted(volume)) === wanted(volume)) return;
  const names = ["", ...readdirSync(volume, { recursive: true, encoding: "utf8" })];
  for (const path of names.map((name) => join(volume, name))) chmodSync(path, statSync(path).mode | wanted(path));
};

describe("deploy/kubernetes.yaml", () => {
  it("runs as nobody, with nothing that can be written but data, keys in memory and temporary files", () => {
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10_001 });
    expect(spec).toMatchObject({ enableServiceLinks: false, automountServiceAccountToken: false });
    for (const each of [container, ...spec.initContainers])
      expect(each.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    const writable = container.volumeMounts.filter((each: { readOnly?: boolean }) => each.readOnly !== true);
    expect(writable.map((each: { mountPath: string }) => each.mountPath)).toEqual(["/var/lib/custody", "/tmp"]);
  });

  it("leaves a data folder closed to others when a pod is made anew and its volume is mounted again", () => {
    const volume = mkdtempSync(join(folder, "volume-"));
    const { mountPath } = container.volumeMounts.find((each: { name: string }) => each.name === "data");
    const { peer } = parse(manifest("ConfigMap", "custody-config").data["peer.yaml"]);
    const dataDir = join(volume, relative(mountPath, peer["data-dir"]));
    for (const _start of ["first", "second"]) {
      mount(volume, spec.securityContext);
      Effect.runSync(prepareDirectory(dataDir));
      writeFileSync(`${databaseFile(dataDir)}-wal`, "", { mode: 0o600 });
    }
    mount(volume, spec.securityContext);
    expect(directoryFault(dataDir)).toBeUndefined();
  });

  it("restarts no peer for being sealed, and sends callers where a change would be accepted", () => {
    expect(container.livenessProbe.httpGet.path).toBe("/v1/custody/system/health");
    expect(container.startupProbe.httpGet.path).toBe("/v1/custody/system/health");
    expect(container.readinessProbe.httpGet.path).toBe("/v1/custody/system/ready");
    expect(manifest("Service").spec.publishNotReadyAddresses).toBe(true);
    expect(manifest("Service", "custody-api").spec.publishNotReadyAddresses).toBeUndefined();
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(60);
  });

  it.each([
    { pod: "custody-0", id: 1, others: [2, 3] },
    { pod: "custody-1", id: 2, others: [1, 3] },
    { pod: "custody-2", id: 3, others: [1, 2] },
  ])("starts in $pod peer $id with a configuration that is accepted", async ({ pod, id, others }) => {
    const bin = join(folder, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "node"), '#!/bin/sh\nenv\necho "ARGS=$*"\n', { mode: 0o755 });
    const [shell, ...flags] = container.command;
    const ran = spawnSync(shell, [...flags, ...container.args], {
      env: { PATH: `${bin}:/usr/bin:/bin`, POD: pod },
      encoding: "utf8",
    });
    expect(ran.status).toBe(0);
    const lines = ran.stdout.split("\n").map((line) => line.split(/=(.*)/s));
    const env = Object.fromEntries(lines.filter(([name = ""]) => name.startsWith("CUSTODY_")));
    const file = join(folder, "peer.yaml");
    writeFileSync(file, manifest("ConfigMap", "custody-config").data["peer.yaml"]);
    const config = await Effect.runPromise(loadConfig(file, env));
    expect(config.peer.id).toBe(id);
    expect(config.cluster.peers).toEqual(
      others.map((other) => ({ id: other, url: `https://custody-${other - 1}.custody:7400` })),
    );
    expect(config.metrics).toMatchObject({ port: 7500, inClear: true });
    const ports = [config.http.port, config.peerHttp.port, config.metrics?.port];
    expect(container.ports.map((each: { containerPort: number }) => each.containerPort)).toEqual(ports);
    expect(ran.stdout).toContain(`${program} server --config /etc/custody/peer.yaml`);
  });

  it("selects with every selector what it runs", () => {
    const { labels } = manifest("StatefulSet").spec.template.metadata;
    expect(manifest("StatefulSet").spec.selector.matchLabels).toEqual(labels);
    expect(manifest("PodDisruptionBudget").spec.selector.matchLabels).toEqual(labels);
    expect(manifest("NetworkPolicy", "custody-peers").spec.podSelector.matchLabels).toEqual(labels);
    for (const name of ["custody", "custody-api"]) expect(manifest("Service", name).spec.selector).toEqual(labels);
  });
});

describe("deploy/Containerfile", () => {
  it("starts the program of the package itself, as the user of the manifests", () => {
    expect(containerFile).toMatch(/^USER 10001:10001$/m);
    expect(containerFile.split("\n").filter((line) => line.startsWith("FROM "))).toHaveLength(2);
    expect(containerFile).toContain(`ENTRYPOINT ["node", "/opt/custody/node_modules/custody/${program}"]`);
  });
});

it("is in the package with everything else that it names", () => {
  const { files }: { readonly files: ReadonlyArray<string> } = JSON.parse(readFileSync("package.json", "utf8"));
  for (const name of [
    "alerts.yaml",
    "grafana.json",
    "Containerfile",
    "kubernetes.yaml",
    "make-tls.sh",
    "custody.service",
  ])
    expect(files).toContain(`deploy/${name}`);
  expect(files.filter((each) => each.startsWith("deploy/") && !existsSync(each))).toEqual([]);
});

/** What the script calls; nothing here is about this program's own cryptography. */
const certificateTool = "openssl";
const hasOpenssl = spawnSync(certificateTool, ["version"]).status === 0;
const makeTls = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  spawnSync("sh", [resolve("deploy/make-tls.sh"), ...args], {
    env: { PATH: process.env["PATH"], ...env },
    encoding: "utf8",
  });

describe.skipIf(!hasOpenssl)("deploy/make-tls.sh (skipped without openssl)", () => {
  const tls = join(folder, "tls");
  const certificate = (name: string) => new X509Certificate(readFileSync(join(tls, `${name}.pem`)));

  it("makes an authority and certificates that fit it, and keys for this user alone", () => {
    const made = makeTls([tls, "127.0.0.1", "custody-0.custody", "::1"]);
    expect([made.status, made.stderr]).toEqual([0, ""]);
    const authority = certificate("ca");
    expect(authority.ca).toBe(true);
    for (const [name, alternative] of [
      ["127.0.0.1", "IP Address:127.0.0.1"],
      ["custody-0.custody", "DNS:custody-0.custody"],
      ["::1", "IP Address:0:0:0:0:0:0:0:1"],
    ] as const) {
      const own = certificate(name);
      expect([own.verify(authority.publicKey), own.subjectAltName, own.ca]).toEqual([true, alternative, false]);
      expect(own.keyUsage?.toSorted()).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
      expect(statSync(join(tls, `${name}.key`)).mode & 0o777).toBe(0o600);
    }
  });

  it("renews under the same authority", () => {
    const [authority, before] = [certificate("ca").fingerprint256, certificate("127.0.0.1").fingerprint256];
    expect(makeTls([tls, "127.0.0.1"], { DAYS: "10" }).status).toBe(0);
    expect(certificate("ca").fingerprint256).toBe(authority);
    expect(certificate("127.0.0.1").fingerprint256).not.toBe(before);
    const days = (Date.parse(certificate("127.0.0.1").validTo) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(10);
  });

  it.each([
    { args: [], env: {}, says: "give a folder and the name of each peer" },
    { args: ["x", "../a"], env: {}, says: "is neither a host name nor an IP address" },
    { args: ["x", "ca"], env: {}, says: "is neither a host name nor an IP address" },
    { args: ["x", "a"], env: { DAYS: "1 -x" }, says: "DAYS is not a number of days" },
    { args: ["x", "a"], env: { DAYS: "0" }, says: "DAYS is not a number of days from 1" },
  ])("refuses $args", ({ args, env, says }) => {
    const { status, stdout, stderr } = makeTls(args, env);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(says);
  });
});
