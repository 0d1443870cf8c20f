import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { describe, expect, it } from "vitest";
import { loadBootstrapSecret } from "./BootstrapSecret.ts";
import { configFolder, least, type Environment } from "../../properties/LoadedConfig.ts";

const { accepted, folder } = configFolder();

const readSecret = async (lines: string, env: Environment = {}) =>
  Effect.runPromise(Effect.either(loadBootstrapSecret(await accepted(`${least}${lines}`), env)));
const writeSecret = (text: string, mode = 0o600): string => {
  const file = join(folder, "bootstrap");
  writeFileSync(file, text);
  chmodSync(file, mode);
  return `cluster: {bootstrap-secret: {file: bootstrap}}\n`;
};

describe("the bootstrap secret", () => {
  const secret = "s".repeat(32);
  const bytes = new TextEncoder().encode(secret);

  it("comes from a file or the environment, one newline not counted", async () => {
    expect(await readSecret(writeSecret(`${secret}\n`))).toEqual(Either.right(bytes));
    expect(await readSecret("", { CUSTODY_BOOTSTRAP_SECRET: secret })).toEqual(Either.right(bytes));
    expect(await readSecret("")).toEqual(Either.right(undefined));
  });

  it.each([
    ["31 characters", "s".repeat(31)],
    ["1025 characters", "s".repeat(1025)],
    ["a space", `${secret} `],
    ["two newlines", `${secret}\n\n`],
    ["nothing", ""],
  ])("is refused with %s", async (_name, text) => {
    const fromFile = Either.getOrThrow(Either.flip(await readSecret(writeSecret(text))));
    expect(fromFile.problems[0]?.path).toBe("cluster.bootstrap-secret.file");
    const fromVariable = Either.getOrThrow(Either.flip(await readSecret("", { CUSTODY_BOOTSTRAP_SECRET: text })));
    expect(fromVariable.problems[0]?.path).toBe("CUSTODY_BOOTSTRAP_SECRET");
    expect(fromVariable.message).not.toContain("sss");
  });

  it("is refused when given twice, or readable by everyone", async () => {
    const twice = await readSecret(writeSecret(secret), { CUSTODY_BOOTSTRAP_SECRET: secret });
    expect(Either.getOrThrow(Either.flip(twice)).message).toMatch(/keep one of them/);
    const open = await readSecret(writeSecret(secret, 0o644));
    expect(Either.getOrThrow(Either.flip(open)).message).toMatch(/chmod 600/);
  });
});
