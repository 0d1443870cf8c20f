/** Backups cut short in every way, and disks destroyed and made again from those that were not. */
import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Violation } from "../../sim/base/Violation.ts";
import { databaseFile } from "../../server/sqlite/StoreDirectory.ts";
import type { AcceptedBackup, UnderWay } from "./Backups.ts";
import { type BackupWay, backupWays, restoreWays } from "./BackupWays.ts";
import type { ChaosCluster } from "./ChaosCluster.ts";
import { transactionsIn } from "./OldDisks.ts";
import type { PeerUnderTest } from "./PeerUnderTest.ts";
import type { PlannedFault } from "./Plan.ts";
import type { Tools } from "./Probe.ts";

/** A command reaches what is waited for within this, or has failed before. */
const REACH_MILLIS = 10_000;
const POLL_MILLIS = 2;
/** What a reader may still write. */
const READER_BYTES = 64 * 1024;

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

const until = async (isThere: () => boolean): Promise<void> => {
  for (const end = performance.now() + REACH_MILLIS; !isThere() && performance.now() < end; ) await pause(POLL_MILLIS);
};

export class BackupFaults {
  readonly #cluster: ChaosCluster;
  readonly #tools: Tools;
  readonly #broken: (violation: Violation) => void;

  constructor(cluster: ChaosCluster, tools: Tools, broken: (violation: Violation) => void) {
    this.#cluster = cluster;
    this.#tools = tools;
    this.#broken = broken;
  }

  /** Whether the peer has to be left alone by others: they could not tell who ended it. */
  needsAll({ amount }: PlannedFault): boolean {
    return backupWays[amount] === "peer killed";
  }

  /** A backup in the way that was planned; false where none could be asked for. */
  async take(peer: PeerUnderTest, fault: PlannedFault): Promise<boolean> {
    const way = backupWays[fault.amount] ?? "undisturbed";
    if (
      !peer.isUp ||
      this.#cluster.backups.isBusy(peer.slot) ||
      (way === "reader's disk full" && this.#tools.prlimit === undefined)
    )
      return false;
    if (way === "slow copy" || way.endsWith("killed")) peer.armCopy("slow");
    if (way === "copy fails") peer.armCopy("fails");
    if (way === "copy finds the disk full") peer.armCopy("full");
    const taken = await this.#cluster.backups.take(peer.slot, way, (underWay) =>
      this.#disturb(peer, way, fault, underWay),
    );
    if (way.startsWith("copy") && peer.hasBegunCopy && taken !== undefined)
      this.#broken(new Violation("BACKUP", `the copy of peer ${peer.slot} failed`, `${taken.file} was made`));
    peer.disarmCopy();
    return true;
  }

  async #disturb(peer: PeerUnderTest, way: BackupWay, { lastsMillis }: PlannedFault, underWay: UnderWay) {
    const { command, isOver, received } = underWay;
    const { pid } = command.child;
    /** Before the first byte, or after it, with the reader stopped so that the rest waits. */
    const middle = async (): Promise<void> => {
      if (lastsMillis % 2 === 0) {
        await until(() => isOver() || peer.hasBegunCopy);
        return pause(lastsMillis);
      }
      await until(() => isOver() || received() > 0);
      command.signal("SIGSTOP");
    };
    switch (way) {
      case "slow reader":
        await until(() => isOver() || received() > 0);
        command.signal("SIGSTOP");
        await pause(lastsMillis);
        command.signal("SIGCONT");
        return;
      case "reader killed":
        await middle();
        command.signal("SIGKILL");
        return;
      case "peer killed":
        await middle();
        await peer.kill();
        command.signal("SIGCONT");
        await pause(lastsMillis);
        peer.start();
        return;
      case "reader's disk full":
        if (pid !== undefined && !isOver())
          execFileSync(this.#tools.prlimit ?? "", ["--pid", String(pid), `--fsize=${READER_BYTES}:unlimited`], {
            stdio: "ignore",
          });
        return;
      default:
    }
  }

  /** The disk of a peer is destroyed, and made again from a backup of its own; it declares that by itself. */
  async restore({ slot }: PeerUnderTest, { amount, lastsMillis }: PlannedFault): Promise<boolean> {
    const way = restoreWays[amount] ?? "from the newest";
    const peer = this.#cluster.peer(slot);
    const { backups } = this.#cluster;
    if (backups.of(slot).length === 0) await backups.take(slot, "undisturbed");
    const backup = way.startsWith("from the newest") ? backups.of(slot).at(-1) : backups.of(slot)[0];
    if (backup === undefined) return false;
    await pause(lastsMillis);
    await peer.kill();
    const directory = this.#cluster.dataOf(slot);
    const newest = transactionsIn(databaseFile(directory));
    rmSync(directory, { recursive: true });
    if (way.endsWith("killed first")) await this.#cutShort(backup, directory, lastsMillis);
    if (!existsSync(databaseFile(directory)) && !(await this.#putBack(backup))) return false;
    peer.putBack(newest, backup.transactions, "declared");
    peer.start();
    return true;
  }

  #restoring({ slot, file }: AcceptedBackup) {
    const { config } = this.#cluster.folder.peer(slot);
    return this.#cluster.custody(slot, "restore", "--from", file, "--config", config, "--json");
  }

  async #putBack(backup: AcceptedBackup): Promise<boolean> {
    const command = this.#restoring(backup);
    const how = await command.ended();
    const isThere = existsSync(databaseFile(this.#cluster.dataOf(backup.slot)));
    if (how === 0 && isThere) return true;
    const said = how === 0 ? "0, and no database is there" : `${how}: ${command.stderr}`;
    const destroyed = `the disk of peer ${backup.slot} was destroyed`;
    this.#broken(new Violation("RESTORE", destroyed, `custody restore ended with ${said}`));
    return false;
  }

  /** SIGKILL in the middle of a restore. What it leaves is no database, or the whole one: the next one begins anew, or need not. */
  async #cutShort(backup: AcceptedBackup, directory: string, millis: number): Promise<void> {
    const command = this.#restoring(backup);
    let isOver = false;
    const ended = command.ended().finally(() => {
      isOver = true;
    });
    await until(() => isOver || existsSync(join(directory, "custody.db.restoring")));
    await pause(millis % 40);
    command.signal("SIGKILL");
    await ended;
    const file = databaseFile(directory);
    if (!existsSync(file)) return;
    const there = transactionsIn(file);
    if (there !== backup.transactions)
      this.#broken(
        new Violation(
          "RESTORE",
          `custody restore was killed, and ${file} is there`,
          `it ends with transaction ${there}`,
        ),
      );
  }
}
