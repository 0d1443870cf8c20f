/** Which peers have the keys that tokens are signed with, and so what each believes of a token. */
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Write } from "../../core/Tables.ts";
import type { Commands } from "../requests/Commands.ts";
import type { Scheduler } from "./Scheduler.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { TamperedWorld, Tampering } from "./Tampering.ts";
import { Violation } from "../base/Violation.ts";

/** A writer may act on an answer to a probe one second old (protocol.md 3.3), and may have stood still for a flush. */
const NOTICED_MICROS = 5_000_000;

/** A token as somebody sees it who looks at no claim but the name. */
export const permittingAll = (check: ActorCheck): ActorCheck =>
  check._tag === "Verified"
    ? {
        _tag: "Verified",
        claims: {
          ...check.claims,
          audience: ["custody"],
          // Names have two to four segments.
          permissions: ["*.*", "*.*.*", "*.*.*.*"],
        },
      }
    : check;

interface Ports {
  readonly commands: Commands;
  readonly world: TamperedWorld;
  readonly tampering: Tampering;
  readonly scheduler: Scheduler;
}

export class TokenKeys {
  /** Slots of peers that cannot get the key in use and do not know it: they have others. */
  readonly unavailable = new Set<number>();
  /** Slots of peers that have no keys at all, and since when, in microseconds. */
  readonly gone = new Map<number, number>();
  /** Slots of peers that do not know the keys that are in use now. */
  readonly unknown = new Set<number>();
  /** Slots of members that let anybody do anything. */
  readonly credulous = new Set<number>();
  /** Tokens that one of these took at their bearer's word. */
  readonly believed = new Set<string>();
  /** Tokens that some peer has not believed to be any. */
  readonly disbelieved = new Set<string>();
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** A peer has no keys from now on; where it had none before, that began then. */
  lose({ slot }: SimPeer): void {
    if (!this.gone.has(slot)) this.gone.set(slot, this.#ports.scheduler.now);
  }

  regain({ slot }: SimPeer): void {
    this.gone.delete(slot);
  }

  /** Whether a peer knows that it has the keys. */
  isJudge({ slot }: SimPeer): boolean {
    const real = !this.gone.has(slot);
    return this.#ports.tampering.judges?.(real) ?? real;
  }

  /** S35: the writer reserves nothing anew while an honest member cannot judge it, and could not for a while. */
  assertJudges({ slot, state, honest }: SimPeer, writes: ReadonlyArray<Write>): void {
    if (this.gone.size === 0 || !honest || state?.cluster.membership?.writer !== slot) return;
    if (!writes.some(({ table, op }) => table === "preparations" && op === "insert")) return;
    for (const [member, since] of this.gone)
      if (!this.#ports.world.ghost.isLying(member) && this.#ports.scheduler.now - since > NOTICED_MICROS)
        throw new Violation(
          "S35",
          `peer ${member} has no keys of tokens since ${since} µs`,
          `the writer, peer ${slot}, reserved what it cannot judge`,
        );
  }

  /** What a peer finds out about a token, of a caller of its own or, as evidence, in another member's message. */
  judge(peer: SimPeer, token: string, isEvidence: boolean): ActorCheck {
    if (this.unavailable.has(peer.slot) || this.gone.has(peer.slot)) return { _tag: "Unavailable" };
    const { commands, world, tampering } = this.#ports;
    const seen: ActorCheck = this.unknown.has(peer.slot)
      ? { _tag: "Refused", reason: "unknown key" }
      : commands.judge(token);
    if (this.unknown.has(peer.slot)) peer.misjudgesTokens = true;
    const isBelieved = this.credulous.has(peer.slot);
    if (isBelieved) this.believed.add(token);
    const real = isBelieved ? permittingAll(seen) : seen;
    const check = tampering.judged?.(world, peer, real, isEvidence) ?? real;
    if (check._tag === "Refused") this.disbelieved.add(token);
    return check;
  }

  /** Every peer has the keys again. */
  heal(): void {
    this.unavailable.clear();
    this.gone.clear();
    this.unknown.clear();
    this.credulous.clear();
  }
}
