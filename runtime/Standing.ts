/**
 * What a peer's readers are answered by, of all that it has published: who it is, whether it may answer, where its audit
 * ends. Nothing undecided is in it, so whoever reads need not be where steps are taken.
 */
import type { PeerState } from "../core/protocol/PeerState.ts";

export type Standing = Pick<PeerState, "cluster" | "fitness" | "rejoining" | "signed" | "modules">;
