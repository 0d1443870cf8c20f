/** The disk below a data folder: what it is, how much it has left, how fast it flushes. */
import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fail, type Finding, ok, warn } from "./Finding.ts";

const mebibyte = 1024 ** 2;
/** Some 6 KB for a change: room for 16,000, and for 160,000. */
const LEAST_FREE = 100 * mebibyte;
const GOOD_FREE = 1024 * mebibyte;

const FLUSHES = 32;
/** About a small transaction. */
const FLUSHED_BYTES = 4096;
/** No storage answers sooner than its bus; something only says that it has flushed. */
const UNLIKELY_MILLIS = 0.005;
const SLOW_MILLIS = 20;
const SICK_MILLIS = 250;

interface FileSystem {
  readonly name: string;
  /** Why a peer should not be there; undefined where it may. */
  readonly fault?: string;
}

const overNetwork = "is a network file system, whose locks and flushes cannot be relied on; use a local disk";

/** By the numbers of statfs(2). Those that are not here are taken for local. */
const fileSystems: ReadonlyMap<number, FileSystem> = new Map([
  [0xef53, { name: "ext4" }],
  [0x58465342, { name: "xfs" }],
  [0x9123683e, { name: "btrfs" }],
  [0x2fc12fc1, { name: "zfs" }],
  [0x794c7630, { name: "overlayfs" }],
  [0x01021994, { name: "tmpfs", fault: "is memory, and loses every record with the power; use a disk" }],
  [0x858458f6, { name: "ramfs", fault: "is memory, and loses every record with the power; use a disk" }],
  [0x6969, { name: "nfs", fault: overNetwork }],
  [0x517b, { name: "smb", fault: overNetwork }],
  [0xff534d42, { name: "cifs", fault: overNetwork }],
  [0xfe534d42, { name: "smb2", fault: overNetwork }],
]);

/** Whether the place of a data folder is fit for one, by the type number that statfs(2) gives. */
export const fileSystemFinding = (type: number): Finding => {
  const known = fileSystems.get(type >>> 0);
  if (known === undefined) return ok("file system", `type 0x${(type >>> 0).toString(16)}`);
  return known.fault === undefined
    ? ok("file system", known.name)
    : fail("file system", `${known.name} ${known.fault}`);
};

const mebibytes = (bytes: number): string => `${Math.floor(bytes / mebibyte).toLocaleString("en-US")} MiB`;

/** @param free bytes that the user of the peer may still write */
export const spaceFinding = (free: number): Finding => {
  const message = `${mebibytes(free)} free`;
  if (free < LEAST_FREE) return fail("space", `${message}; a full disk stops the peer: make room now`);
  return free < GOOD_FREE ? warn("space", `${message}; make room soon`) : ok("space", message);
};

/** @param millis how long each of some flushes took, at least one */
export const flushFinding = (millis: ReadonlyArray<number>): Finding => {
  const sorted = millis.toSorted((left, right) => left - right);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const message = `median ${median.toFixed(3)} ms, slowest ${(sorted.at(-1) ?? 0).toFixed(3)} ms of ${sorted.length}`;
  if (median < UNLIKELY_MILLIS)
    return warn("flush", `${message}: too fast for a disk; make sure that it keeps what it says it has flushed`);
  if (median >= SICK_MILLIS) return fail("flush", `${message}: every change waits for it; look at the disk`);
  return median >= SLOW_MILLIS
    ? warn("flush", `${message}: slow, and every change waits for it; prefer an SSD without other load`)
    : ok("flush", message);
};

/** Writes and flushes a file of its own in a folder, which is removed again. Throws the errors of the disk. */
const flushTimes = (folder: string): ReadonlyArray<number> => {
  const file = join(folder, `.custody-doctor-${randomBytes(8).toString("hex")}`);
  const descriptor = openSync(file, "wx", 0o600);
  try {
    return Array.from({ length: FLUSHES }, () => {
      writeSync(descriptor, randomBytes(FLUSHED_BYTES));
      const startedAt = performance.now();
      fsyncSync(descriptor);
      return performance.now() - startedAt;
    });
  } finally {
    closeSync(descriptor);
    rmSync(file, { force: true });
  }
};

/**
 * Looks at the disk of a data folder, or of its parent before the first start. Never throws.
 *
 * @param dataDir the data folder
 */
export const diskFindings = (dataDir: string): ReadonlyArray<Finding> => {
  const folder = resolve(dataDir);
  const place = statSync(folder, { throwIfNoEntry: false }) === undefined ? dirname(folder) : folder;
  try {
    const { type, bavail, bsize } = statfsSync(place);
    return [fileSystemFinding(type), spaceFinding(bavail * bsize), flushFinding(flushTimes(place))];
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown reason";
    return [fail("disk", `${place} cannot be written (${code}); run this as the user of the peer, and check the disk`)];
  }
};
