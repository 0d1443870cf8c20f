import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterAll, beforeEach, expect, it } from "vitest";
import { loadConfig } from "../config/ConfigFile.ts";
import { jsonLog } from "./Log.ts";
import { makeReload, type ReloadPorts } from "./Reload.ts";

const folder = mkdtempSync(join(tmpdir(), "custody-reloads-"));
const configFile = join(folder, "peer.yaml");
const configure = (level: string): void =>
  writeFileSync(
    configFile,
    `peer: {data-dir: data, log-level: ${level}}\nauth: {audience: custody, jwks: {file: keys.json}}`,
  );
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let lines: Array<string> = [];
beforeEach(() => {
  lines = [];
  configure("info");
});

const reloading = async (ports: Partial<ReloadPorts>): Promise<() => Promise<void>> =>
  makeReload(await Effect.runPromise(loadConfig(configFile, {})), {
    configFile,
    env: {},
    log: jsonLog("info", (line) => lines.push(line), Date.now),
    now: Date.now,
    useTls: () => undefined,
    reloadKeys: async () => undefined,
    ...ports,
  });

/** The reasons for what was kept, and what the last line says of a whole reload. */
const said = (): { readonly kept: ReadonlyArray<unknown>; readonly end: unknown } => {
  const all = lines.splice(0).map((line) => JSON.parse(line) as Record<string, unknown>);
  const kept = all.flatMap((line) => (line["event"] === "reload" ? [[line["kept"], line["reason"]]] : []));
  const { time: _time, level: _level, ...end } = all.at(-1) ?? {};
  return { kept, end };
};

/** Throws at its first call alone. */
const once = (): (() => undefined) => {
  let isFirst = true;
  return () => {
    if (!isFirst) return undefined;
    isFirst = false;
    throw new Error("not today");
  };
};

const all = { event: "reloaded", configuration: true, certificates: true, tokenKeys: true, logLevel: "info" };

it.each<[string, "configuration" | "certificates" | "tokenKeys", () => Partial<ReloadPorts>]>([
  ["certificates", "certificates", () => ({ useTls: once() })],
  [
    "token keys",
    "tokenKeys",
    () => {
      const first = once();
      return { reloadKeys: async () => first() };
    },
  ],
  [
    // Within an effect this is a defect.
    "configuration",
    "configuration",
    () => ({ env: Object.defineProperty({}, "CUSTODY_PEER_LOG_LEVEL", { enumerable: true, get: once() }) }),
  ],
])(
  "keeps the %s where reading them throws, takes the rest, and reloads all the next time",
  async (kept, part, ports) => {
    const reload = await reloading(ports());
    await expect(reload()).resolves.toBeUndefined();
    expect(said()).toEqual({ kept: [[kept, "not today"]], end: { ...all, [part]: false } });
    configure("debug");
    await reload();
    expect(said()).toEqual({ kept: [], end: { ...all, logLevel: "debug" } });
  },
);
