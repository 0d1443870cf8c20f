/** What a link of a simulated peer carries. */
import type { Lane } from "../../core/protocol/Lane.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Packet } from "./Wire.ts";

/** Bytes that a packet without bytes counts for. */
const USUAL_BYTES = 1_024;

export interface Letter {
  readonly packet: Packet;
  /** What a session carries of it. */
  readonly inSession: Packet;
  readonly lane: Lane;
  readonly bytes: number;
  /** Whom it is for. */
  readonly to: PeerId;
}

export const letterOf = (packet: Packet, to: PeerId, lane: Lane, inSession = packet): Letter => ({
  packet,
  inSession,
  lane,
  bytes: packet._tag === "Bytes" ? packet.bytes.length : USUAL_BYTES,
  to,
});
