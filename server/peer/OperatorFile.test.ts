import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Exit, Scope } from "effect";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import type { KeptAct } from "../../runtime/OperatorLog.ts";
import { type OperatorFile, openOperatorFile, operatorFile } from "./OperatorFile.ts";

const root = mkdtempSync(join(tmpdir(), "custody-operators-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const kept = (no: number): KeptAct => ({
  no,
  act: {
    at: 1_800_000_000_000,
    call: "UNSEAL",
    actor: { iss: undefined, sub: "olga", jti: undefined },
    requestId: `r${no}`,
    request: { method: "POST", path: "/v1/custody/system/unseal", bodyDigest: undefined },
    outcome: "INVALID_SHARE",
    detail: "",
    times: 1,
  },
});

/** Opens the file, uses it and closes it again, as a process does; returns the reports about it. */
const using = async <A>(directory: string, use: (file: OperatorFile) => A | Promise<A>) => {
  const said: Array<string> = [];
  const scope = await Effect.runPromise(Scope.make());
  try {
    const file = await Effect.runPromise(
      Scope.extend(
        openOperatorFile(directory, (what) => said.push(what)),
        scope,
      ),
    );
    return { said, result: await use(file) };
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void));
  }
};
const append = (file: OperatorFile, no: number, isFirst = false): Promise<Error | undefined> =>
  new Promise((resolve) => file.append(kept(no), isFirst, resolve));
const numbers = async (directory: string) => (await using(directory, (file) => file.acts.map(({ no }) => no))).result;

const OWN = "/proc/self/fd";
/** What this process has open, where the system tells. */
const openFiles = (): ReadonlyArray<string> =>
  !existsSync(OWN)
    ? []
    : readdirSync(OWN).flatMap((number) => {
        try {
          return [readlinkSync(join(OWN, number))];
        } catch {
          // That of the listing itself.
          return [];
        }
      });

/** Has the system write at most `most` bytes in one go and then `room` in all, without an error before the disk is full. */
const limited = async (directory: string, most: number, room: number): Promise<void> => {
  const file = await open(operatorFile(directory));
  // All open files have one prototype, that of this one.
  const handles = Object.getPrototypeOf(file) as Pick<FileHandle, "write">;
  await file.close();
  const write = handles.write as (bytes: Buffer, at: number, length: number, to: number) => Promise<object>;
  let left = room;
  vi.spyOn(handles, "write").mockImplementation(function (this: FileHandle, ...args: ReadonlyArray<unknown>) {
    const [bytes, at, length, to] = args as Parameters<typeof write>;
    if (left === 0) return Promise.reject(new Error("ENOSPC: no space left on device, write"));
    const taken = Math.min(length, most, left);
    left -= taken;
    return write.call(this, bytes, at, taken, to) as ReturnType<FileHandle["write"]>;
  } as FileHandle["write"]);
};

describe("the journal of operators", () => {
  afterEach(() => void vi.restoreAllMocks());

  it("leaves alone what a later version has written", async () => {
    const directory = mkdtempSync(join(root, "later-"));
    await using(directory, (file) => append(file, 1, true));
    const [, entry = ""] = readFileSync(operatorFile(directory), "utf8").trimEnd().split(" ");
    // The number behind the head of the pair.
    const later = `8209${entry.slice(4)}`;
    const hash = createHash("sha256").update("").update(Buffer.from(later, "hex")).digest("hex");
    writeFileSync(operatorFile(directory), `${hash} ${later}\n`);
    await expect(using(directory, () => undefined)).rejects.toThrow(
      /operators\.log: was written by a later version of this program; start that one/,
    );
    expect(openFiles()).not.toContain(operatorFile(directory));
  });

  it("keeps acts over processes in a private file, and begins anew when told so", async () => {
    const directory = mkdtempSync(join(root, "a-"));
    await using(directory, async (file) => {
      expect(await Promise.all([append(file, 1, true), append(file, 2), append(file, 3)])).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    });
    expect(statSync(operatorFile(directory)).mode & 0o777).toBe(0o600);
    await using(directory, async (file) => {
      expect(file.acts).toEqual([kept(1), kept(2), kept(3)]);
      await append(file, 4);
      expect(file.count()).toBe(4);
    });
    expect(await numbers(directory)).toEqual([1, 2, 3, 4]);
    await using(directory, (file) => append(file, 5, true));
    expect(await numbers(directory)).toEqual([5]);
  });

  it("leaves out an end that was never answered for or was changed, says so, and goes on behind what holds", async () => {
    const directory = mkdtempSync(join(root, "b-"));
    const path = operatorFile(directory);
    await using(directory, async (file) => {
      for (const no of [1, 2, 3]) await append(file, no, no === 1);
    });
    const whole = readFileSync(path, "latin1");
    appendFileSync(path, whole.split("\n")[0]?.slice(0, 90) ?? "");
    const torn = await using(directory, (file) => append(file, 4));
    expect(torn.said).toEqual([expect.stringMatching(/^operators\.log: 90 bytes at its end/)]);
    expect(await numbers(directory)).toEqual([1, 2, 3, 4]);
    const [first, second, third] = whole.split("\n");
    for (const changed of [`${first}\n${third}\n`, `${first}\n${second}0\n${third}\n`, `${first}\n${second} x\n`]) {
      writeFileSync(path, changed);
      const { said, result } = await using(directory, (file) => file.acts.map(({ no }) => no));
      expect([result, said.length]).toEqual([[1], 1]);
    }
  });

  it("says so where the disk takes a part of an act, and loses none before or after it", async () => {
    const directory = mkdtempSync(join(root, "full-"));
    await using(directory, async (file) => {
      for (const no of [1, 2]) await append(file, no, no === 1);
      await limited(directory, 30, 90);
      expect((await append(file, 3))?.message).toMatch(/^ENOSPC/);
      expect(file.count()).toBe(2);
      vi.restoreAllMocks();
      expect(await append(file, 4)).toBeUndefined();
      await limited(directory, 30, Number.POSITIVE_INFINITY);
      expect(await append(file, 5)).toBeUndefined();
    });
    vi.restoreAllMocks();
    expect(await numbers(directory)).toEqual([1, 2, 4, 5]);
  });

  it("begins anew though the act it was to begin with found no room", async () => {
    const directory = mkdtempSync(join(root, "anew-"));
    await using(directory, async (file) => {
      for (const no of [1, 2]) await append(file, no, no === 1);
      await limited(directory, 30, 90);
      expect((await append(file, 3, true))?.message).toMatch(/^ENOSPC/);
      expect(file.count()).toBe(0);
      vi.restoreAllMocks();
      expect(await append(file, 4)).toBeUndefined();
    });
    expect(await numbers(directory)).toEqual([4]);
  });

  it("warns as soon as refusals are not recorded any more", async () => {
    const directory = mkdtempSync(join(root, "many-"));
    await using(directory, (file) => append(file, 1, true));
    const [, entry = ""] = readFileSync(operatorFile(directory), "utf8").trimEnd().split(" ");
    let hash = "";
    const lines = Array.from({ length: 2_047 }, () => {
      hash = createHash("sha256").update(hash).update(Buffer.from(entry, "hex")).digest("hex");
      return `${hash} ${entry}\n`;
    });
    writeFileSync(operatorFile(directory), lines.join(""));
    await using(directory, async (file) => {
      expect([file.hasRoom(), file.warnings()]).toEqual([true, []]);
      await append(file, 2);
      expect(file.hasRoom()).toBe(false);
      expect(file.warnings()).toEqual([
        expect.stringMatching(/^operators\.log: it holds 2048 acts, and refusals are only logged now; see/),
      ]);
      await append(file, 3, true);
      expect([file.hasRoom(), file.warnings()]).toEqual([true, []]);
    });
  });

  it("is refused where its path is something else", async () => {
    const directory = join(root, "missing");
    await expect(using(directory, () => undefined)).rejects.toThrow(/operators\.log: cannot be read and written/);
  });
});
