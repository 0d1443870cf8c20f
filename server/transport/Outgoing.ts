/** A message on its way to another peer, and what every way there knows of it. */
import { Limits } from "../../core/base/Limits.ts";
import type { RequestOptions } from "node:http";
import type { Duplex } from "node:stream";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { DropReason } from "../../runtime/transport/Link.ts";
import type { Parcel } from "../../runtime/transport/MailboxRoom.ts";
import type { Sendable } from "../../runtime/transport/Outbox.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";

/** A full batch and the envelope around it. */
export const maxEnvelopeBytes = Limits.envelopeBytes + 1024;

export interface Outgoing extends Sendable {
  /** The envelope. */
  readonly packet: Uint8Array;
  /** The same with a signature, where it has none: for whatever carries it without a session. */
  readonly signed: (() => Uint8Array | undefined) | undefined;
  /** Whether it may go as the answer to what its receiver has asked. */
  readonly isAnswer: boolean;
  /** This peer's signed notice of a large message; absent for a small one. */
  readonly warrant: Uint8Array | undefined;
}

export interface WayPorts {
  readonly dropped: (reason: DropReason) => void;
  /** Told after every message why it was not answered, and what to do about it; undefined where it was. */
  readonly ended: (why: string | undefined) => void;
  /**
   * Takes an envelope that came back as the answer to a message, of this member where a session says so, and gives its
   * room back when it is done with it.
   */
  readonly received: (envelope: Uint8Array, parcel: Parcel, member?: PeerId) => void;
  /** Room for one more answer. */
  readonly parcel: () => Parcel;
}

/** The envelope of a message that no session vouches for; undefined where nothing can be said any more. */
export const signedEnvelope = ({ packet, signed }: Outgoing): Uint8Array | undefined =>
  signed === undefined ? packet : signed();

/** Where another peer listens. */
export interface Destination {
  readonly isSecure: boolean;
  readonly at: Pick<RequestOptions, "host" | "port">;
}

/** @param url `scheme://host:port` */
export const destinationOf = (url: string): Destination => {
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === "https:";
  return {
    isSecure,
    // A URL brackets an IPv6 address, a socket does not.
    at: { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? (isSecure ? 443 : 80) : port },
  };
};

export interface WayOptions extends WayPorts {
  readonly to: Destination;
  readonly tls: PeerClientTls;
  /** Without a sign of the other side for so long, it is given up. */
  readonly timeoutMillis: number;
}

const ignore = (): void => undefined;

/**
 * Node takes its own listener from a connection when an answer has come, and the rest of a body may fail after that: a
 * server that refuses a long message at its beginning and hangs up would end this process.
 */
export const outlive = (socket: Duplex): void => {
  if (!socket.listeners("error").includes(ignore)) socket.on("error", ignore);
};
