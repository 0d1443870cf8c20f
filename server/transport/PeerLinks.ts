/** The links to all other peers of the configuration. */
import type { PeerId } from "../../core/protocol/Topology.ts";
import { HeldAnswers } from "../../runtime/transport/HeldAnswers.ts";
import type { DropReason } from "../../runtime/transport/Link.ts";
import type { Session } from "../../runtime/transport/Session.ts";
import { Links } from "../../runtime/transport/Links.ts";
import type { MailboxRoom, Parcel } from "../../runtime/transport/MailboxRoom.ts";
import type { Config } from "../config/ConfigSchema.ts";
import type { Log } from "../peer/Log.ts";
import { later } from "../peer/MachineTime.ts";
import type { PeerClientTls } from "../tls/TlsMaterial.ts";
import type { Outgoing } from "./Outgoing.ts";
import { PeerLink } from "./PeerLink.ts";
import { WayReport } from "./WayReport.ts";

export interface LinksOptions {
  readonly tls: PeerClientTls;
  readonly room: MailboxRoom;
  readonly elapsedMillis: () => number;
  readonly log: Log;
  readonly dropped: (peerId: PeerId, reason: DropReason) => void;
  readonly received: (envelope: Uint8Array, parcel: Parcel, peerId: PeerId, member?: PeerId) => void;
  /** The opening end of a session, for one stream. */
  readonly session: () => Session<Uint8Array>;
}

export type PeerLinks = Links<Outgoing, PeerLink>;

export const openLinks = (
  peers: Config["cluster"]["peers"],
  { tls, room, elapsedMillis, log, dropped, received, session }: LinksOptions,
): PeerLinks =>
  new Links(
    new HeldAnswers({ later, elapsedMillis }),
    new Map(
      peers.map(({ id, url }) => [
        id,
        new PeerLink({
          peerId: id,
          url,
          tls,
          session,
          received: (envelope, parcel, member) => received(envelope, parcel, id, member),
          parcel: () => room.parcel(id),
          dropped: (reason) => dropped(id, reason),
          ended: new WayReport({ peerId: id, url, log, elapsedMillis }).ended,
        }),
      ]),
    ),
    // A large one would hold up all that is behind it on the stream, longer than this is waited for.
    ({ warrant, isAnswer }) => isAnswer && warrant === undefined,
  );
