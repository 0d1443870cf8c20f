import { Schema } from "effect";
import { describe, expect, it } from "vitest";
import { type Config, configSchema } from "../config/ConfigSchema.ts";
import { withSections } from "../config/Environment.ts";
import { jsonLog } from "../peer/Log.ts";
import { Metrics } from "../peer/Metrics.ts";
import { filesNeeded } from "./ConnectionLimits.ts";
import { makeGuards } from "./Guards.ts";

const config: Config = Schema.decodeUnknownSync(configSchema("/etc/custody"))(
  withSections({
    peer: { "data-dir": "a" },
    auth: { audience: "custody", jwks: { file: "jwks.json" } },
    cluster: { peers: [2, 3].map((id) => ({ id, url: `https://peer${id}:1` })) },
    limits: { connections: 1000, "connections-per-address": 500, "idle-timeout": "5s" },
  }),
);

const guardsWith = (mostFiles: number) => {
  const lines: Array<unknown> = [];
  const log = jsonLog(
    "info",
    (line) => void lines.push(JSON.parse(line)),
    () => 0,
  );
  return { guards: makeGuards(config, { log, metrics: new Metrics(), elapsedMillis: () => 0 }, mostFiles), lines };
};

describe("the bounds of both listeners", () => {
  it("are those of the configuration where the system allows the files", () => {
    const { guards, lines } = guardsWith(filesNeeded(config));
    expect(lines).toEqual([]);
    expect(guards.http.limits).toMatchObject({ connections: 1000, connectionsPerAddress: 500, idleMillis: 5_000 });
    expect(guards.peerHttp.limits).toMatchObject({ connections: 1000, provenConnections: 64, idleMillis: 75_000 });
  });

  it("are lowered, with a word in the log, where it allows fewer", () => {
    const needed = filesNeeded(config);
    const { guards, lines } = guardsWith(needed - 1_201);
    expect(guards.http.limits).toMatchObject({ connections: 399, connectionsPerAddress: 399 });
    expect(lines).toMatchObject([
      { level: "warn", event: "open files", limit: needed - 1_201, needed, connections: 399 },
    ]);
    expect(guardsWith(64).guards.peerHttp.limits.connections).toBe(32);
  });

  it("lead to counters of their own", () => {
    const metrics = new Metrics();
    const counts: Array<readonly [string, string]> = [];
    metrics.count = (name, label) => void counts.push([name, label]);
    const guards = makeGuards(config, {
      log: jsonLog(
        "error",
        () => undefined,
        () => 0,
      ),
      metrics,
      elapsedMillis: () => 0,
    });
    guards.http.report("tooMany");
    guards.peerHttp.report("handshake");
    expect(counts).toEqual([
      ["custody_http_connections_cut_total", "tooMany"],
      ["custody_peer_http_connections_cut_total", "handshake"],
    ]);
  });
});
