import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { takeOver } from "./ConfigChanges.ts";
import { loadConfig } from "./ConfigFile.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "custody-changes-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const configOf = (level: string, ...lines: ReadonlyArray<string>) => {
  const file = join(directory, "peer.yaml");
  const always = [`peer: {data-dir: data, log-level: ${level}}`, "auth: {audience: a, jwks: {file: keys.json}}"];
  writeFileSync(file, [...always, ...lines].join("\n"));
  return Effect.runPromise(loadConfig(file, {}));
};

describe("a changed configuration", () => {
  it("gives a running peer its log level and the names of its certificate files", async () => {
    const configs = (name: string) => {
      const tls = `tls: {cert: ${name}.pem, key: ${name}.key}`;
      return [`http: {${tls}}`, `metrics: {port: 7500, ${tls}}`];
    };
    const running = await configOf("info", ...configs("a"));
    const fresh = await configOf("debug", ...configs("b"));
    expect(takeOver(running, fresh)).toEqual({ config: fresh, needsRestart: [] });
  });

  it("leaves everything else as it runs, and names it as the file writes it", async () => {
    const running = await configOf("info", "http: {port: 1, tls: {cert: a.pem, key: a.key}}");
    const fresh = await configOf(
      "info",
      "http: {port: 2, tls: {cert: a.pem, key: a.key, ca: ca.pem}}",
      "approvers: {answer-timeout: 9s}",
      "cluster: {peers: [{id: 2, url: 'https://peer2:7400'}]}",
      "limits: {body-bytes-in-flight: 32MiB}",
      "metrics: {port: 7500}",
    );
    expect(takeOver(running, fresh)).toEqual({
      config: running,
      needsRestart: [
        "approvers.answer-timeout",
        "cluster.peers",
        "http.port",
        "http.tls.ca",
        "limits.body-bytes-in-flight",
        "metrics.host",
        "metrics.in-clear",
        "metrics.port",
      ],
    });
  });
});
