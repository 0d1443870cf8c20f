/** A member that prepares, applies and aborts, and keeps its votes to itself, all or some of them. */
import type { Message } from "../../core/Message.ts";
import type { Unit } from "../base/Choices.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";
import { anyPeer } from "./Victims.ts";

const LONGEST = 8_000_000;

type Kinds = ReadonlySet<Message["_tag"]>;

/** Messages in which a member tells of its votes. */
const VOTES: Kinds = new Set(["Votes", "SettleAnswer", "CommitAcks", "Commit", "AbortRequest", "Session.Votes"]);

/** Messages in which it tells what it has applied. */
export const ACKNOWLEDGEMENTS: Kinds = new Set(["CommitAcks"]);

/** Keeps a peer's messages of some kinds to itself for a while. */
export const silence = (world: World, peer: SimPeer, micros: number, kept = VOTES): void => {
  if (!peer.honest || world.mail.isSpokenFor(peer)) return;
  world.mail.speakThrough(peer, {
    says: (_to, message) => {
      if (!kept.has(message._tag)) return [message];
      world.marks.add("a vote was kept back");
      return [];
    },
    hears: (_from, message) => message,
  });
  world.after(micros, () => {
    if (!world.healed) world.mail.speakThrough(peer, undefined);
  });
};

export const silentMember = (world: World, unit: Unit): void =>
  silence(world, anyPeer(world, unit), unit.between("for", 1_000_000, 100_000, LONGEST));
