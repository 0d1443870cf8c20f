import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Either } from "effect";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readKept, writeKept } from "./KeptKeys.ts";

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;
const url = "https://issuer.example/jwks";
const document = new TextEncoder().encode('{"keys":[]}');

let directory: string;
let clock: number;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "kept-keys-"));
  clock = NOW;
});
afterEach(() => rmSync(directory, { recursive: true }));
const options = (from = url) => ({ directory, url: from, maxAgeMillis: DAY, now: () => clock });
const file = () => join(directory, "token-keys.json");

it("is read as it was written, with its age, by this user alone", async () => {
  await writeKept(options(), document);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  clock += 5_000;
  const kept = Either.getOrThrow(await readKept(options()));
  expect([new TextDecoder().decode(kept.document), kept.ageMillis]).toEqual(['{"keys":[]}', 5_000]);
});

it("takes the place of an earlier one", async () => {
  await writeKept(options(), document);
  await writeKept(options(), new TextEncoder().encode("later"));
  expect(new TextDecoder().decode(Either.getOrThrow(await readKept(options())).document)).toBe("later");
});

it.each<readonly [string, string, () => void]>([
  ["there is none", "does not exist", () => undefined],
  ["it is a day old", "older than auth.jwks-max-age", () => void (clock += DAY)],
  ["it is from the future", "from the future", () => void (clock -= 5_001)],
  ["strangers may write it", "every user", () => chmodSync(file(), 0o602)],
  ["it is cut off", "no kept key set", () => writeFileSync(file(), readFileSync(file()).subarray(0, 40))],
  ["something is beside it", "no kept key set", () => change((all) => ({ ...all, more: 1 }))],
  ["it is of another version", "no kept key set", () => change((all) => ({ ...all, version: 2 }))],
  ["it is no Base64", "no kept key set", () => change((all) => ({ ...all, keys64: "e30" }))],
  ["it names no time", "no kept key set", () => change((all) => ({ ...all, fetchedAt: "now" }))],
])("is not believed where %s", async (_why, reason, become) => {
  if (reason !== "does not exist") await writeKept(options(), document);
  become();
  const kept = await readKept(options());
  expect(Either.isLeft(kept) && kept.left).toContain(reason);
});

const change = (edit: (all: Record<string, unknown>) => object): void =>
  writeFileSync(file(), JSON.stringify(edit(JSON.parse(readFileSync(file(), "utf8")))), { mode: 0o600 });

it("is nobody's where it came from another address", async () => {
  await writeKept(options(), document);
  const kept = await readKept(options("https://other.example/jwks"));
  expect(Either.isLeft(kept) && kept.left).toContain("of another address");
});

it("is no older than a fetch of just now where clocks differ a little", async () => {
  await writeKept(options(), document);
  clock -= 5_000;
  expect(Either.getOrThrow(await readKept(options())).ageMillis).toBe(0);
});
