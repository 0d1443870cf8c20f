/** Configurations of tests, read from files as the server reads them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { afterAll } from "vitest";
import type { ConfigError } from "../server/config/ConfigError.ts";
import { loadConfig } from "../server/config/ConfigFile.ts";
import type { Config } from "../server/config/ConfigSchema.ts";

export type Environment = Readonly<Record<string, string>>;

export const least = "peer: {data-dir: data}\nauth: {audience: custody, jwks: {file: jwks.json}}\n";

/** A folder for the configurations of one file of tests, removed at its end. */
export const configFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "custody-config-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const load = (text: string | Uint8Array, env: Environment = {}): Promise<Either.Either<Config, ConfigError>> => {
    const file = join(folder, "peer.yaml");
    writeFileSync(file, text);
    return Effect.runPromise(Effect.either(loadConfig(file, env)));
  };
  const accepted = async (text: string, env: Environment = {}): Promise<Config> =>
    Either.getOrThrow(await load(text, env));
  const problems = async (text: string | Uint8Array, env: Environment = {}): Promise<ReadonlyArray<string>> => {
    const error = Either.getOrThrow(Either.flip(await load(text, env)));
    return error.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  return { folder, load, accepted, problems };
};

export const origins = (count: number): string =>
  Array.from({ length: count }, (_, index) => `https://a${index}.example.com`).join(",");
