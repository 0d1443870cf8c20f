/** What a peer needs of its process, and what its operators give it. */
import type { Write } from "../../core/Tables.ts";
import type { Event, Settings } from "../../core/protocol/Event.ts";
import type { PeerId, Topology } from "../../core/protocol/Topology.ts";
import type { AuditReadPorts } from "../../runtime/AuditReads.ts";
import type { ByteStore } from "../../runtime/ByteStore.ts";
import type { CatalogPorts } from "../../runtime/IdentityCatalog.ts";
import type { OperatorJournal } from "../../runtime/OperatorLog.ts";
import type { WallClock } from "../../runtime/WallClock.ts";
import type { PeerDriver } from "../../runtime/PeerDriver.ts";
import type { SealedStore } from "../../runtime/SealedStore.ts";
import type { CryptoBackend } from "../crypto/CryptoBackend.ts";
import type { Outgoing } from "../transport/Outgoing.ts";
import type { Metrics } from "./Metrics.ts";

export interface PeerPorts {
  readonly bytes: ByteStore;
  /** Keeps operators' acts while there is no key to seal rows with. */
  readonly journal: OperatorJournal;
  readonly backend: CryptoBackend;
  readonly settings: Settings;
  readonly metrics: Metrics;
  readonly clock: WallClock;
  /** A clock that never goes back, in milliseconds. */
  readonly elapsedMillis: () => number;
  /** Whether the keys that verify tokens can be had now. */
  readonly judgesTokens: () => boolean;
  /** Hands an envelope to the network; losing it is allowed. */
  readonly send: (to: PeerId, message: Outgoing) => void;
  /** Whether a session vouches for what is sent to this peer now. */
  readonly isInSession: (to: PeerId) => boolean;
  /** Told of every transaction that the disk has, or failed to take, after that many milliseconds. */
  readonly flushed: (millis: number, writes: ReadonlyArray<Write>) => void;
  /** The topology has been pinned: this process saw its cluster being founded. */
  readonly founded: (topology: Topology) => void;
  /** Told when this peer was initialized. */
  readonly initialized: () => void;
  /** The peer must not go on. */
  readonly halt: (reason: Error) => void;
}

/** What `init` decides for this peer. */
export interface Initialization {
  readonly peerId: PeerId;
  readonly threshold: number;
  readonly total: number;
}

/** A driver, and the store that it alone writes to. */
export interface Running {
  readonly driver: PeerDriver;
  readonly store: SealedStore;
}

/** The ports of every read. */
export type Reading = CatalogPorts & AuditReadPorts & { readonly view: SealedStore["recalling"] };

/** What an operator asks for who has this peer, which is alone, made a cluster. */
export type PromotionWish = Pick<Extract<Event, { readonly _tag: "Promote" }>, "plan" | "actor" | "dryRun">;
