/** PostgreSQL with two synchronous standbys on one disk: an insert is answered when all three have flushed it. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Loaded } from "../Load.ts";
import { freePort, isInstalled, RECORD_BYTES, type Yardstick } from "./Yardstick.ts";

const WAIT_MILLIS = 30_000;
const STANDBYS = ["standby1", "standby2"];
/** Its programs refuse to run as root: under this user then, whom the packages make. */
const USER = "postgres";

/** Folders of its programs that packages keep off the path, the newest first, then the path itself. */
const bins = (): ReadonlyArray<string> => {
  const packaged = "/usr/lib/postgresql";
  const versions = ((): ReadonlyArray<string> => {
    try {
      return readdirSync(packaged);
    } catch {
      return [];
    }
  })();
  return [
    ...versions.toSorted((one, other) => Number(other) - Number(one)).map((each) => join(packaged, each, "bin")),
    "",
  ];
};

const programs = ["initdb", "postgres", "pg_basebackup", "pgbench", "psql"] as const;

/** Where all of its programs are; undefined where they are not installed. */
export const postgresBin = (): string | undefined =>
  bins().find((bin) => programs.every((program) => isInstalled(join(bin, program))));

interface Identity {
  readonly uid: number;
  readonly gid: number;
}

const identity = (): Identity | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(execFileSync("id", [flag, USER], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
};

/** The programs of one installation, run below one folder. */
class Installation {
  readonly #bin: string;
  readonly #as: Identity | undefined;
  readonly folder: string;

  constructor(bin: string) {
    this.#bin = bin;
    this.#as = identity();
    // Outside of folders that only their owner may enter.
    this.folder = mkdtempSync(join(tmpdir(), "custody-bench-postgres-"));
    if (this.#as !== undefined) chownSync(this.folder, this.#as.uid, this.#as.gid);
  }

  run(program: (typeof programs)[number], ...parameters: ReadonlyArray<string>): string {
    const options = { cwd: this.folder, encoding: "utf8", stdio: "pipe", ...this.#as } as const;
    return execFileSync(join(this.#bin, program), parameters, options);
  }

  serve(data: string, port: number): ChildProcess {
    const parameters = ["-D", data, "-p", String(port), "-k", this.folder, "-c", "listen_addresses=127.0.0.1"];
    return spawn(join(this.#bin, "postgres"), parameters, { cwd: this.folder, stdio: "ignore", ...this.#as });
  }

  bench(...parameters: ReadonlyArray<string>): ChildProcess {
    return spawn(join(this.#bin, "pgbench"), parameters, { cwd: this.folder, stdio: "ignore", ...this.#as });
  }
}

const until = async (what: string, holds: () => boolean): Promise<void> => {
  for (const began = performance.now(); performance.now() - began < WAIT_MILLIS; ) {
    try {
      if (holds()) return;
    } catch {
      // It does not serve yet.
    }
    await new Promise((wake) => void setTimeout(wake, 100));
  }
  throw new Error(`PostgreSQL: ${what}`);
};

const settings = `
max_connections = 100
max_wal_senders = 8
synchronous_commit = on
fsync = on
`;

const insert = `INSERT INTO records VALUES (gen_random_uuid()::text, decode(repeat('ab', ${RECORD_BYTES}), 'hex'));\n`;

/** What the logs of one run tell: the third field of a line has its microseconds, the last two when it ended. */
const loadedIn = (folder: string, prefix: string): Loaded => {
  const lines = readdirSync(folder)
    .filter((name) => name.startsWith(`${prefix}.`))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"))
    .map((line) => line.split(" ").map(Number));
  const latencies = lines.map(([, , micros = Number.NaN]) => micros / 1000);
  const ends = lines.map(([, , , , second = Number.NaN, micros = Number.NaN]) => second * 1000 + micros / 1000);
  const begins = ends.map((end, index) => end - (latencies[index] ?? 0));
  const seconds = (Math.max(...ends) - Math.min(...begins)) / 1000;
  return { perSecond: latencies.length / seconds, latencies, statuses: new Map() };
};

/** Inserts through `pgbench`, on loopback and over prepared statements. */
export const postgresInserts = async (bin: string): Promise<Yardstick> => {
  const installed = new Installation(bin);
  const { folder } = installed;
  const primary = join(folder, "primary");
  installed.run("initdb", "-D", primary, "-U", USER, "--auth=trust", "--no-sync");
  appendFileSync(join(primary, "postgresql.conf"), settings);
  const port = await freePort();
  const at = ["-h", "127.0.0.1", "-p", String(port), "-U", USER];
  const ask = (sql: string): string => installed.run("psql", ...at, "-d", "postgres", "-Atc", sql).trim();
  const running = [installed.serve(primary, port)];
  await until("the primary does not serve", () => ask("SELECT 1") === "1");
  for (const standby of STANDBYS) {
    const data = join(folder, standby);
    installed.run("pg_basebackup", ...at, "-D", data, "-R", "--no-sync", "-c", "fast");
    appendFileSync(join(data, "postgresql.conf"), `cluster_name = '${standby}'\n`);
    running.push(installed.serve(data, await freePort()));
  }
  ask("CREATE TABLE records (ref text PRIMARY KEY, record bytea NOT NULL)");
  ask(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBYS.length} (${STANDBYS.join(", ")})'`);
  ask("SELECT pg_reload_conf()");
  const synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
  await until("its standbys do not follow", () => ask(synchronous) === String(STANDBYS.length));
  const script = join(folder, "insert.sql");
  writeFileSync(script, insert, { mode: 0o644 });
  let runs = 0;
  return {
    name: "postgresInsert",
    write: async (callers, count) => {
      const prefix = join(folder, `run${++runs}`);
      const each = Math.max(1, Math.round(count / callers));
      const load = ["-c", String(callers), "-j", String(Math.min(callers, 2)), "-t", String(each), "-f", script];
      const child = installed.bench(...at, "-n", "-M", "prepared", ...load, "-l", `--log-prefix=${prefix}`, "postgres");
      const [code] = await once(child, "close");
      if (code !== 0) throw new Error(`pgbench ended with ${code}`);
      return loadedIn(folder, `run${runs}`);
    },
    stop: async () => {
      for (const child of running.toReversed()) {
        const closed = once(child, "close");
        child.kill("SIGINT");
        await closed;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
