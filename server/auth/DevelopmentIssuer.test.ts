import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tokenAlgorithms } from "../config/ConfigSchema.ts";
import { openDevelopmentIssuer, type TokenRequest } from "./DevelopmentIssuer.ts";
import { KeyRing } from "./KeyRing.ts";
import { fileKeySource } from "./KeySource.ts";
import { makeTokenVerifier } from "./TokenVerifier.ts";

const now = 1_800_000_000_000;
const request: TokenRequest = {
  subject: "operator",
  permissions: ["service.approvers.*"],
  ttlMillis: 12 * 3_600_000,
  audience: "custody",
  issuer: "custody-dev",
  now,
};

let root: string;
let folder: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "custody-issuer-"));
  folder = join(root, "dev-secrets");
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const open = () => Effect.runPromise(openDevelopmentIssuer(folder));
const refusal = async (): Promise<string> =>
  (await Effect.runPromise(Effect.flip(openDevelopmentIssuer(folder)))).message;

const verify = (jwksFile: string, token: string) =>
  makeTokenVerifier({
    keys: new KeyRing({
      source: fileKeySource(jwksFile),
      maxAgeMillis: 1000,
      elapsedMillis: () => 0,
      report: () => undefined,
    }),
    algorithms: tokenAlgorithms,
    tokenTypes: ["JWT"],
  }).verify(token);

describe("openDevelopmentIssuer", () => {
  it("mints tokens its key set verifies, before and after it is opened again", async () => {
    const issuer = await open();
    const token = await Effect.runPromise(issuer.mint(request));
    const again = await open();
    expect(again.jwksFile).toBe(issuer.jwksFile);
    for (const each of [token, await Effect.runPromise(again.mint(request))]) {
      expect(Either.getOrThrow(await verify(issuer.jwksFile, each))).toMatchObject({
        sub: "operator",
        iss: "custody-dev",
        expiresAt: now + 12 * 3_600_000,
        permissions: ["service.approvers.*"],
      });
    }
  });

  it("keeps folder and files to this user, leaves no drafts and publishes no private key", async () => {
    const { jwksFile } = await open();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).toSorted()).toEqual(["issuer-key.json", "jwks.json"]);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const published: { readonly keys: ReadonlyArray<object> } = JSON.parse(readFileSync(jwksFile, "utf8"));
    expect(Object.keys(published.keys[0] ?? {}).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
  });

  it("restores a key set that was changed", async () => {
    const { jwksFile } = await open();
    const before = readFileSync(jwksFile, "utf8");
    writeFileSync(jwksFile, "{}");
    await open();
    expect(readFileSync(jwksFile, "utf8")).toBe(before);
  });

  it("refuses a folder or key that others may open", async () => {
    await open();
    chmodSync(folder, 0o750);
    expect(await refusal()).toMatch(/chmod 700/);
    chmodSync(folder, 0o700);
    chmodSync(join(folder, "issuer-key.json"), 0o604);
    expect(await refusal()).toMatch(/chmod 600/);
  });

  it.each([
    ["nothing", ""],
    ["no key", "{}"],
    ["a short key", '{"kty":"OKP","crv":"Ed25519","x":"AA","d":"hunter2"}'],
    ["too much", "x".repeat(4097)],
  ])("refuses a key file with %s", async (_name, content) => {
    await open();
    writeFileSync(join(folder, "issuer-key.json"), content);
    const message = await refusal();
    expect(message).toMatch(/issuer-key\.json/);
    expect(message).not.toContain("hunter2");
  });

  it("refuses a path that is no folder", async () => {
    writeFileSync(folder, "");
    expect(await refusal()).toMatch(/cannot be used as a folder/);
  });
});

describe("mint", () => {
  const day = 86_400_000;
  it.each<[string, Partial<TokenRequest>, boolean]>([
    ["1 s", { ttlMillis: 1000 }, true],
    ["999 ms", { ttlMillis: 999 }, false],
    ["30 days", { ttlMillis: 30 * day }, true],
    ["30 days and a millisecond", { ttlMillis: 30 * day + 1 }, false],
    ["a lifetime that is no number", { ttlMillis: Number.NaN }, false],
    ["no subject", { subject: "" }, false],
    ["a subject of 1025 bytes", { subject: "s".repeat(1025) }, false],
    ["no permissions", { permissions: [] }, true],
    ["a denial", { permissions: ["-service.approvers.read"] }, true],
    ["a malformed permission", { permissions: ["service.**"] }, false],
  ])("%s", async (_name, changed, expected) => {
    const issuer = await open();
    const minted = await Effect.runPromise(Effect.either(issuer.mint({ ...request, ...changed })));
    expect(Either.isRight(minted)).toBe(expected);
  });
});
