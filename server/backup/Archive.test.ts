/** Archives of databases that are larger than any test could write: their files have holes instead. */
import { execFileSync } from "node:child_process";
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Digest, PublicKey, Signature } from "../../core/base/Digest.ts";
import { archiveBytes, archiveOf, openArchive } from "./Archive.ts";
import type { Manifest } from "./Manifest.ts";

const GIB = 2 ** 30;
const OCTAL = 8 * GIB;

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "custody-archive-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const manifestOf = (bytes: number): Manifest => ({
  facts: {
    madeAt: 1_800_000_000_000,
    program: "0.1.0",
    peerId: 1,
    identityKey: "ab".repeat(32) as PublicKey,
    cluster: undefined,
    incarnation: 1,
    batchNo: 2,
    auditSeq: 3,
    approvers: 4,
    transactions: 5,
    rows: 6,
    bytes,
    sha256: "cd".repeat(32) as Digest,
  },
  signature: "ef".repeat(64) as Signature,
});

/** What comes before the database. */
const beginningOf = async (manifest: Manifest): Promise<Uint8Array> => {
  const pieces = archiveOf(manifest, join(folder, "none"));
  const { value } = await pieces.next();
  await pieces.return(undefined);
  if (!(value instanceof Uint8Array)) throw new Error("an archive begins with a piece");
  return value;
};

/** An archive whose database is all zeros, which no disk has to hold, `more` bytes longer than it should be. */
const written = async (manifest: Manifest, more = 0): Promise<string> => {
  const file = join(folder, `${manifest.facts.bytes}-${more}.tar`);
  const handle = openSync(file, "w");
  writeSync(handle, await beginningOf(manifest));
  ftruncateSync(handle, archiveBytes(manifest) + more);
  closeSync(handle);
  return file;
};

const opened = (file: string) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.match(openArchive(file), {
        onFailure: ({ message }) => message,
        onSuccess: ({ manifest, offset }) => ({ manifest, offset }),
      }),
    ),
  );

describe.each([OCTAL - 1, OCTAL, OCTAL + 1, 100 * GIB])("an archive of a database of %d bytes", (bytes) => {
  const manifest = manifestOf(bytes);

  it("is opened with the database where it lies, and read by tar", async () => {
    const file = await written(manifest);
    const before = await beginningOf(manifest);
    expect(await opened(file)).toEqual({ manifest, offset: before.length });
    expect(archiveBytes(manifest) % 512).toBe(0);
    const listed = execFileSync("tar", ["--list", "--verbose", "--numeric-owner", "--file", file], {
      encoding: "utf8",
    });
    expect(listed.trim().split("\n")).toEqual([
      expect.stringMatching(/^-rw------- 0\/0 +\d+ .* manifest\.json$/),
      expect.stringMatching(new RegExp(`^-rw------- 0/0 +${bytes} .* custody\\.db$`)),
    ]);
    rmSync(file);
  });

  it("is refused where it is cut off, or longer", async () => {
    expect(await opened(await written(manifest, -512))).toContain(
      `it is cut off: it has ${archiveBytes(manifest) - 512} of ${archiveBytes(manifest)} bytes; fetch it again`,
    );
    expect(await opened(await written(manifest, 512))).toContain("512 bytes follow its end; it was changed");
  });

  it("is refused where its header names another size", async () => {
    const file = await written(manifest);
    const other = await beginningOf(manifestOf(bytes + 512));
    const handle = openSync(file, "r+");
    // The manifest still names the right one.
    writeSync(handle, other, other.length - 512, 512, other.length - 512);
    closeSync(handle);
    expect(await opened(file)).toContain("the frame of its parts is damaged; take another backup");
  });
});

it("the pieces of an archive are as many bytes as it says", async () => {
  for (const bytes of [1, 511, 512, 513, 300_000]) {
    const database = join(folder, "database");
    writeFileSync(database, Buffer.alloc(bytes, 1));
    const pieces: Array<Uint8Array> = [];
    for await (const piece of archiveOf(manifestOf(bytes), database)) pieces.push(piece);
    expect(Buffer.concat(pieces).length).toBe(archiveBytes(manifestOf(bytes)));
  }
});
