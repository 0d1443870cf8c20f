import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Either, Schema } from "effect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { issue } from "../../properties/http/Certificates.ts";
import { type Config, configSchema } from "./ConfigSchema.ts";
import { withSections } from "./Environment.ts";
import { loadRelyingParty } from "./LoadRelyingParty.ts";
import { loadTrustRoots } from "./TrustRoots.ts";

const [first, second] = [issue("first", undefined), issue("second", undefined)];
const derOf = ({ pem }: { readonly pem: string }): Uint8Array => Uint8Array.from(new X509Certificate(pem).raw);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-roots-"));
  writeFileSync(join(folder, "first.pem"), first.pem);
  writeFileSync(join(folder, "both.pem"), `a word before\n${first.pem}and between\n${second.pem}`);
  writeFileSync(join(folder, "none.pem"), "");
  writeFileSync(join(folder, "large.pem"), first.pem.padEnd(1024 * 1024 + 1, "\n"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const config = (files: ReadonlyArray<string>, enabled = true): Config =>
  Schema.decodeUnknownSync(configSchema(folder))(
    withSections({
      peer: { "data-dir": "a" },
      auth: { audience: "custody", jwks: { file: "jwks.json" } },
      webauthn: {
        enabled,
        "rp-id": "example.com",
        "rp-name": "Example",
        origins: ["https://z.example.com", "https://example.com"],
        "trust-roots": files,
      },
    }),
  );
const load = (files: ReadonlyArray<string>) => Effect.runPromise(Effect.either(loadTrustRoots(config(files))));

it("reads every certificate of every file once", async () => {
  expect(await load(["both.pem", "first.pem"])).toEqual(Either.right([derOf(first), derOf(second)]));
  expect(await load([])).toEqual(Either.right([]));
});

it("names every file that is missing, too large or holds no certificate", async () => {
  const error = Either.getOrThrow(Either.flip(await load(["first.pem", "absent.pem", "none.pem", "large.pem"])));
  expect(error.message.split("\n")).toEqual([
    `webauthn.trust-roots.1: ${join(folder, "absent.pem")} does not exist; create it or correct the path`,
    `webauthn.trust-roots.2: ${join(folder, "none.pem")} holds no PEM certificate, or a malformed one; name a file of BEGIN CERTIFICATE blocks`,
    `webauthn.trust-roots.3: ${join(folder, "large.pem")} is larger than 1048576 bytes; shorten it or name another file`,
  ]);
});

it("names a file with a certificate whose key verifies nothing here", async () => {
  const file = join(folder, "odd.pem");
  const der = derOf(first);
  // The curve of its key, P-256, becomes one that no attestation uses.
  const curve = Buffer.from(der).indexOf(Buffer.from("06082a8648ce3d030107", "hex"));
  der[curve + 9] = 0x01;
  writeFileSync(
    file,
    `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString("base64")}\n-----END CERTIFICATE-----\n`,
  );
  const error = Either.getOrThrow(Either.flip(await load(["odd.pem"])));
  expect(error.message).toMatch(
    /^webauthn\.trust-roots\.0: \S+odd\.pem holds a certificate that cannot be a trust root; /,
  );
});

it("names a file with a certificate whose key is no point of its curve", async () => {
  const der = derOf(first);
  const point = Buffer.from(der).indexOf(Buffer.from("03420004", "hex"));
  der[point + 4] = (der[point + 4] ?? 0) ^ 1;
  const pem = `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString("base64")}\n-----END CERTIFICATE-----\n`;
  writeFileSync(join(folder, "beside.pem"), pem);
  const error = Either.getOrThrow(Either.flip(await load(["beside.pem"])));
  expect(error.message).toBe(
    `webauthn.trust-roots.0: ${join(folder, "beside.pem")} holds a certificate that cannot be a trust root; name another: The key of a certificate is no point of its curve.`,
  );
});

it("belong to the relying party, and are not opened while enrollment is off", async () => {
  const party = (files: ReadonlyArray<string>, enabled: boolean) =>
    Effect.runPromise(loadRelyingParty(config(files, enabled)));
  expect(await party(["first.pem"], true)).toEqual({
    rpId: "example.com",
    rpName: "Example",
    origins: ["https://example.com", "https://z.example.com"],
    registrationTtlMillis: 300_000,
    attestation: "none",
    trustRoots: [derOf(first)],
  });
  expect(await party(["absent.pem"], false)).toBeUndefined();
});
