/** Which peers have the keys that tokens are signed with, and so what each believes of a token. */
import type { ActorCheck } from "../../core/Event.ts";
import type { Commands } from "../Commands.ts";
import type { SimPeer } from "../SimPeer.ts";
import type { TamperedWorld, Tampering } from "../Tampering.ts";

interface Ports {
  readonly commands: Commands;
  readonly world: TamperedWorld;
  readonly tampering: Tampering;
}

export class TokenKeys {
  /** Slots of peers that cannot get the keys. */
  readonly unavailable = new Set<number>();
  /** Slots of peers that do not know the keys that are in use now. */
  readonly unknown = new Set<number>();
  /** Tokens that some peer has not believed to be any. */
  readonly disbelieved = new Set<string>();
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** What a peer finds out about a token. */
  judge(peer: SimPeer, token: string): ActorCheck {
    if (this.unavailable.has(peer.slot)) return { _tag: "Unavailable" };
    const { commands, world, tampering } = this.#ports;
    const real: ActorCheck = this.unknown.has(peer.slot)
      ? { _tag: "Refused", reason: "unknown key" }
      : commands.judge(token);
    const check = tampering.judged?.(world, peer, real) ?? real;
    if (check._tag === "Refused") this.disbelieved.add(token);
    return check;
  }

  /** Every peer has the keys again. */
  heal(): void {
    this.unavailable.clear();
    this.unknown.clear();
  }
}
