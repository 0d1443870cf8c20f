/** What answers say beside the approver itself: that it is new, that somebody else owns the key, and how it looks. */
import type { Answer } from "../../core/Action.ts";
import type { Write } from "../../core/Tables.ts";
import { recordJson } from "../../server/http/ApproverRecord.ts";
import type { Ghost } from "../../sim/Ghost.ts";
import { Violation } from "../../sim/Violation.ts";
import type { Asked } from "./History.ts";

/** Holds every answer against what was stored by then. Each method throws {@link Violation}. */
export class Truth {
  readonly #ghost: Ghost;
  /** Ref to the request that was told that it created the approver. */
  readonly #created = new Map<string, string>();
  /** Descriptor to the ids that any peer has stored it for. */
  readonly #owners = new Map<string, Set<string>>();

  constructor(ghost: Ghost) {
    this.#ghost = ghost;
  }

  stored(writes: ReadonlyArray<Write>): void {
    for (const write of writes) {
      if (write.table !== "approvers" || write.op === "remove") continue;
      const { descriptor, id } = write.row;
      const owners = this.#owners.get(descriptor) ?? new Set();
      this.#owners.set(descriptor, owners.add(id));
    }
  }

  replied({ requestId, command }: Asked, answer: Answer, body: string | undefined): void {
    if (answer._tag === "Registered") {
      const { ref } = answer.approver;
      this.#assertLooks(ref, body, `request ${requestId}`);
      if (!answer.created) return;
      const first = this.#created.get(ref);
      if (first !== undefined)
        throw new Violation("S14", `request ${first} created ${ref}`, `request ${requestId} created it once more`);
      this.#created.set(ref, requestId);
    }
    if (answer._tag !== "Rejected" || answer.rejection.code !== "KEY_ALREADY_REGISTERED") return;
    const owners = [...(this.#owners.get(command.descriptor) ?? [])];
    if (owners.every((id) => id === command.id))
      throw new Violation(
        "S14",
        `request ${requestId} was told that another id than ${command.id} owns its key`,
        `no peer had stored the key for any other (${owners.length === 0 ? "nor for any" : owners.join(", ")})`,
      );
  }

  read(slot: number, ref: string, body: string | undefined): void {
    this.#assertLooks(ref, body, `a read from peer ${slot}`);
  }

  /** A record of the revision that was stored first is the one that was stored first, to the byte. */
  #assertLooks(ref: string, body: string | undefined, what: string): void {
    const row = this.#ghost.approvers.get(ref)?.row;
    if (row === undefined || body === undefined) return;
    const isFirst = body.includes(`"metadataRevision":${row.revision},`);
    // Its callers register public keys alone, of which nothing is observed.
    const stored = recordJson({ approver: row, observations: undefined });
    if (isFirst && body !== stored)
      throw new Violation("S12", `approver ${ref} was stored as ${stored}`, `${what} was shown ${body}`);
  }
}
