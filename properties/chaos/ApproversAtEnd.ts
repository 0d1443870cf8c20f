/** What must come about with approvers once everything is healed: each peer takes changes, and all show them (L4). */
import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "../../sim/requests/Commands.ts";
import type { Finish } from "../../sim/requests/EnrollmentRequests.ts";
import { Violation } from "../../sim/base/Violation.ts";
import type { Callers } from "./Callers.ts";
import type { ChaosCluster } from "./ChaosCluster.ts";

/** The cluster and its callers, and a wait until nothing is under way. */
export interface ApproversAtEndOptions {
  readonly cluster: ChaosCluster;
  readonly callers: Callers;
  readonly quiet: () => Promise<Violation | undefined>;
}

const BACKUP_TRIES = 5;
const BACKUP_AGAIN_MILLIS = 1_000;

export class ApproversAtEnd {
  readonly #options: ApproversAtEndOptions;

  constructor(options: ApproversAtEndOptions) {
    this.#options = options;
  }

  /** Through every peer a fresh registration and a fresh enrollment succeed, and all show them. */
  async judge(): Promise<Violation | undefined> {
    const { cluster, callers, quiet } = this.#options;
    const total = cluster.peers.length;
    for (const { slot } of cluster.peers) {
      const next = (slot % total) + 1;
      const registered = await this.#succeeds(callers.fresh(), slot, next);
      if (registered !== undefined) return registered;
      const finish = await callers.invited(slot);
      if (finish === undefined)
        return new Violation("L4", "everything was healed", `fresh options through peer ${slot} gave none`);
      const enrolled = await this.#succeeds(finish, next, slot);
      if (enrolled !== undefined) return enrolled;
      if (!(await this.#givesBackup(slot)))
        return new Violation("L4", "everything was healed", `peer ${slot} gives no backup`);
    }
    return quiet();
  }

  /** While a share is erased a backup is refused, with the advice to repeat the call. */
  async #givesBackup(slot: number): Promise<boolean> {
    const { backups } = this.#options.cluster;
    for (let tried = 0; tried < BACKUP_TRIES; tried += 1) {
      if ((await backups.take(slot, "undisturbed")) !== undefined) return true;
      await pause(BACKUP_AGAIN_MILLIS);
    }
    return false;
  }

  /** It is done through one peer, an identical retry through another gives 200, and all show it. */
  async #succeeds(said: Command | Finish, slot: number, other: number): Promise<Violation | undefined> {
    const { cluster, callers } = this.#options;
    const what = said.kind === "REGISTER" ? "a fresh registration" : "a fresh enrollment";
    const created = await callers.ask(slot, said, "good");
    const again = await callers.ask(other, said, "good");
    if (created?._tag !== "Registered")
      return new Violation(
        "L4",
        "everything was healed",
        `${what} through peer ${slot} gave ${created?._tag === "Rejected" ? created.rejection.code : "nothing"}`,
      );
    if (again?._tag !== "Registered" || again.created)
      return new Violation(
        "L4",
        `${what} succeeded through peer ${slot}`,
        `its retry through peer ${other} gave ${again?._tag ?? "nothing"}${again?._tag === "Registered" ? ", as created" : ""}`,
      );
    for (const reader of cluster.peers)
      if ((await callers.read(reader.slot, again.approver.ref)) !== 200)
        return new Violation("L4", `${what} succeeded through peer ${slot}`, `peer ${reader.slot} does not show it`);
    for (const reader of cluster.peers)
      if (!(await callers.list(reader.slot, again.approver.ref)))
        return new Violation("L4", `${what} succeeded through peer ${slot}`, `peer ${reader.slot} gives no list`);
    return this.#replaces(again.approver.ref, slot, other);
  }

  /** Its metadata is replaced through one peer, an identical repetition through another gives 412, and all show it. */
  async #replaces(ref: string, slot: number, other: number): Promise<Violation | undefined> {
    const { cluster, callers } = this.#options;
    const replacement = callers.replacement(ref);
    const told = [await callers.ask(slot, replacement, "good"), await callers.ask(other, replacement, "good")];
    const [first, again] = told.map((answer) => (answer?._tag === "Rejected" ? answer.rejection.code : answer?._tag));
    if (first !== "Replaced" || again !== "PRECONDITION_FAILED")
      return new Violation(
        "L4",
        `${ref} was replaced through peer ${slot}, and the same again through peer ${other}`,
        `it gave ${first ?? "nothing"} and ${again ?? "nothing"}`,
      );
    for (const reader of cluster.peers)
      if ((await callers.read(reader.slot, ref)) !== 200)
        return new Violation("L4", `${ref} was replaced`, `peer ${reader.slot} does not show it`);
    return undefined;
  }
}
