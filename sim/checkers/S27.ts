/**
 * S27: a target accepts one draft for ever, one that its source has durably pinned; a source decides when every target
 * has durably accepted, and is done when every target has durably had the registry of the draft, to the root.
 */
import { SELF } from "../../core/protocol/Tables.ts";
import type { Rows } from "../../core/Tables.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

type Draft = Rows["promotion"]["draft"];

/** Equal of two drafts that have the same in them. */
export const nameOf = ({ members, ...rest }: Draft): string =>
  JSON.stringify([
    Object.entries(rest).toSorted(([left], [right]) => (left < right ? -1 : 1)),
    members.map(({ peerId, identityKey }) => [peerId, identityKey]),
  ]);

export const S27 = (ghost: Ghost): Checker => {
  /** By slot: what it has pinned as a source, ever; what it has accepted as a target, first. */
  const pinned = new Map<number, Set<string>>();
  const accepted = new Map<number, string>();
  /** By target: drafts whose registry it has had. */
  const installed = new Map<number, Set<string>>();

  const isTrusted = ({ slot, honest }: Pick<Watched, "slot" | "honest">): boolean =>
    honest && !ghost.isLying(slot) && (ghost.forgetful & maskOf(slot)) === 0;

  const targetsOf = ({ members, source }: Draft): ReadonlyArray<number> =>
    members.flatMap(({ peerId }) => (peerId === source || ghost.isLying(peerId) ? [] : [peerId]));

  const assertPinned = (peer: Watched, { draft, stage }: Rows["promotion"]): void => {
    const { slot } = peer;
    const name = nameOf(draft);
    const known = pinned.get(slot) ?? new Set();
    pinned.set(slot, known.add(name));
    if (!isTrusted(peer)) return;
    if (known.size > 1)
      throw new Violation("S27", `peer ${slot} had pinned a draft`, "it pinned another one, and a draft is for ever");
    for (const target of targetsOf(draft)) {
      if (stage !== "PINNED" && accepted.get(target) !== name)
        throw new Violation("S27", `peer ${slot} is ${stage}`, `peer ${target} never durably accepted its draft`);
      if (stage === "DONE" && installed.get(target)?.has(name) !== true)
        throw new Violation(
          "S27",
          `peer ${slot} is done`,
          `peer ${target} never durably had the registry of its draft`,
        );
    }
  };

  const assertAccepted = (peer: Watched, { draft }: Rows["transfer"]): void => {
    const { slot } = peer;
    const name = nameOf(draft);
    const before = accepted.get(slot) ?? name;
    accepted.set(slot, name);
    if (!isTrusted(peer)) return;
    if (before !== name)
      throw new Violation(
        "S27",
        `peer ${slot} had accepted a draft of peer ${draft.source}`,
        "it accepted another one",
      );
    if (!ghost.isLying(draft.source) && pinned.get(draft.source)?.has(name) !== true)
      throw new Violation("S27", `peer ${slot} accepted a draft`, `peer ${draft.source} never durably pinned that`);
  };

  const noteInstalled = (peer: Watched): void => {
    const row = peer.store.get("transfer", SELF);
    if (row === undefined || peer.store.get("topology", SELF)?.topology.epoch !== row.draft.epoch) return;
    const name = nameOf(row.draft);
    const known = installed.get(peer.slot) ?? new Set();
    const isFirst = !known.has(name) && !doneBy.has(name);
    installed.set(peer.slot, known.add(name));
    // Nothing changes before a target has it, whatever its source says.
    if (!isFirst || !isTrusted(peer)) return;
    const { set, count } = ghost.product.contentsOf(ghost.crypto, peer.store);
    if (ghost.crypto.setDigest(set) !== row.draft.root || count !== row.draft.approvers)
      throw new Violation(
        "S27",
        `the draft that peer ${peer.slot} accepted has the registry root ${row.draft.root}`,
        `it took part with ${count} approvers under another root before any change`,
      );
  };

  /** Drafts whose sources are done: from then on registries change. */
  const doneBy = new Set<string>();

  return {
    id: "S27",
    written: {
      promotion: (peer, write) => {
        if (write.op === "remove") return;
        assertPinned(peer, write.row);
        // One that lies may be done before its targets are.
        if (write.row.stage === "DONE" && !ghost.isLying(peer.slot)) doneBy.add(nameOf(write.row.draft));
      },
      transfer: (peer, write) => {
        if (write.op !== "remove") assertAccepted(peer, write.row);
      },
      restore: (peer, write) => {
        if (write.op !== "remove" && !write.row.recovering) noteInstalled(peer);
      },
    },
  };
};
