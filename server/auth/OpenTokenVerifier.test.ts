/** Where the keys of a verifier come from when a peer starts. */
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Either, Schema } from "effect";
import { SignJWT } from "jose";
import { expect, it, onTestFinished } from "vitest";
import { type Config, configSchema } from "../config/ConfigSchema.ts";
import { withSections } from "../config/Environment.ts";
import { openTokenVerifier } from "./TokenVerifier.ts";

const now = 1_800_000_000_000;
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const keySet = JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "ed" }] });
const signed = (): Promise<string> =>
  new SignJWT({ sub: "alice", aud: "custody", exp: now / 1000 + 60, permissions: [] })
    .setProtectedHeader({ alg: "EdDSA", kid: "ed" })
    .sign(privateKey);

const config = (jwks: object, directory: string): Config =>
  Schema.decodeUnknownSync(configSchema("/etc/custody"))(
    withSections({ peer: { "data-dir": directory }, auth: { audience: "custody", jwks } }),
  );
let at = now;
const reports: Array<string> = [];
const open = (jwks: object, directory = "a") =>
  Effect.runPromise(
    Effect.either(
      openTokenVerifier(config(jwks, directory), {
        now: () => at,
        elapsedMillis: () => 0,
        report: (fault) => {
          reports.push(fault);
        },
      }),
    ),
  );

it("refuses to start without a good file", async () => {
  const error = Either.getOrThrow(Either.flip(await open({ file: "/nonexistent/jwks.json" })));
  expect(error.message).toMatch(/^auth\.jwks\.file: \/nonexistent\/jwks\.json does not exist/);
});

it("starts while the issuer is away", async () => {
  const opened = Either.getOrThrow(await open({ url: "http://127.0.0.1:1/jwks" }));
  expect(await opened.verify(await signed())).toEqual(Either.left({ _tag: "Unavailable" }));
  expect(reports.at(-2)).toMatch(/^auth\.jwks: cannot be reached/);
  expect(reports.at(-1)).toMatch(/^auth\.jwks: and nothing is kept of it/);
  expect(opened.hasKeys()).toBe(false);
});

it("judges by the set it kept where it is started while the issuer is away, and no longer than by a fetched one", async () => {
  const directory = mkdtempSync(join(tmpdir(), "kept-keys-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const issuer = createServer((_request, response) => void response.end(keySet));
  await new Promise<void>((resolve) => void issuer.listen(0, "127.0.0.1", resolve));
  const address = issuer.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/jwks`;
  await Either.getOrThrow(await open({ url }, directory)).keep();
  await new Promise((resolve) => issuer.close(resolve));
  const opened = Either.getOrThrow(await open({ url }, directory));
  expect(opened.hasKeys()).toBe(true);
  expect(Either.getOrThrow(await opened.verify(await signed())).sub).toBe("alice");
  expect(reports.at(-1)).toMatch(/^auth\.jwks: the key set that was kept of it is used/);
  at = now + 24 * 3_600_000;
  const later = Either.getOrThrow(await open({ url }, directory));
  at = now;
  expect([later.hasKeys(), reports.at(-1)]).toEqual([false, expect.stringContaining("older than")]);
});
