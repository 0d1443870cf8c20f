/** Things with one owner, over everything committed or reserved at any honest peer. */
import type { Rows } from "../../core/Tables.ts";
import type { Watched } from "./Checker.ts";
import { approverSubject } from "../models/approvers/ApproverSubject.ts";
import { type Ghost, maskOf, type PeerMask } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

interface Claims {
  /** Owner to the peers that hold it reserved; a committed claim stays as long as any peer has stored it. */
  readonly reserved: Map<string, PeerMask>;
  committed: string | undefined;
}

export class OneOwner {
  readonly #ghost: Ghost;
  readonly #id: string;
  readonly #kind: string;
  readonly #ownedBy: (row: Rows["approvers"]) => string | undefined;
  readonly #all = new Map<string, Claims>();

  /**
   * @param id the invariant that is broken where there are two owners
   * @param kind completes "owns ..."
   * @param ownedBy what of this kind a stored approver has
   */
  constructor(ghost: Ghost, id: string, kind: string, ownedBy: (row: Rows["approvers"]) => string | undefined) {
    this.#ghost = ghost;
    this.#id = id;
    this.#kind = kind;
    this.#ownedBy = ownedBy;
  }

  #claimsOf(what: string): Claims {
    const known = this.#all.get(what);
    if (known !== undefined) return known;
    const claims: Claims = { reserved: new Map(), committed: undefined };
    this.#all.set(what, claims);
    return claims;
  }

  #assertOne(slot: number, what: string, claims: Claims, owner: string, does: string): void {
    if (claims.committed === owner) return;
    let other = claims.committed;
    // A writer that contradicts itself may have it reserved here for one owner and there for another; neither commits.
    if (other === undefined && this.#ghost.hasConstantWriter)
      for (const each of claims.reserved.keys()) if (each !== owner) other ??= each;
    if (other !== undefined)
      throw new Violation(
        this.#id,
        `${other} ${claims.committed === undefined ? "has reserved" : "owns"} ${this.#kind} ${what}`,
        `peer ${slot} ${does} it for ${owner}`,
      );
  }

  commit(slot: number, what: string, owner: string): void {
    const claims = this.#claimsOf(what);
    this.#assertOne(slot, what, claims, owner, "stored");
    claims.committed = owner;
  }

  /** A preparation holds it, or no longer does. */
  reserve(slot: number, what: string, owner: string, isHeld: boolean): void {
    const claims = this.#claimsOf(what);
    const holders = (claims.reserved.get(owner) ?? 0) & ~maskOf(slot);
    const left = isHeld ? holders | maskOf(slot) : holders;
    if (left === 0) claims.reserved.delete(owner);
    else claims.reserved.set(owner, left);
    if (isHeld) this.#assertOne(slot, what, claims, owner, "reserved");
  }

  /** Reservations on an old or empty disk, or on the one before it, are no honest peer's; nobody sees them end. */
  booted({ slot, honest }: Watched): void {
    if (!honest) this.#release(slot);
  }

  /**
   * Releases all that the old incarnation of a peer had reserved, whether its row was still there or not; what was
   * stored only in incarnations that are over may be given to another owner.
   */
  restored(slot: number): void {
    this.#release(slot);
    const stored = new Set(
      Array.from(this.#ghost.subjects.values(), ({ subject, row }) =>
        // Approvers are the subjects that own things; each kind has a table of its own.
        subject === approverSubject ? this.#ownedBy(row as Rows["approvers"]) : undefined,
      ),
    );
    for (const [what, claims] of this.#all) if (!stored.has(what)) claims.committed = undefined;
  }

  #release(slot: number): void {
    for (const { reserved } of this.#all.values())
      for (const [owner, holders] of reserved)
        if (holders === maskOf(slot)) reserved.delete(owner);
        else reserved.set(owner, holders & ~maskOf(slot));
  }
}
