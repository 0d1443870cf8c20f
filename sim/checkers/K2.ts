/**
 * K2, K9: a share that leaves an honest peer was preceded by its flushed consent to this very message of this very
 * operation, and is of a generation that is active there.
 */
import type { SignMessageOf } from "../../core/commands/signWithKey/SignMessages.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";
import { Violation } from "../base/Violation.ts";
import type { Oracle } from "../oracle/Oracle.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { generationAt } from "./KeyFacts.ts";
import { askedIn, keyIdIn, messageOf, operationOf, sessionOf } from "./Signing.ts";

/** Sessions remembered at least. */
const REMEMBERED = 8_192;

export const K2 = (ghost: Ghost, oracle: Oracle): Checker => {
  /** By slot and session: what it was opened with first, and the digests that packages gave it. */
  const opened = new RecentMap<SignMessageOf<"Sign.Open">>(REMEMBERED);
  const told = new RecentMap<ReadonlyArray<string>>(REMEMBERED);
  const assertConsented = (peer: Watched, session: string): void => {
    const name = `${peer.slot} ${session}`;
    const open = opened.get(name);
    const leaves = `its share in session ${session} leaves`;
    const asked = open && askedIn(open);
    if (open === undefined || asked === undefined)
      throw new Violation("K2", `peer ${peer.slot} was asked for nothing that can be signed`, leaves);
    const keyId = keyIdIn(open.evidence.path);
    const generation = generationAt(peer.store, keyId, open.generation);
    if (generation?.state !== "ACTIVE")
      throw new Violation(
        "K9",
        `generation ${open.generation} of ${keyId} is ${generation?.state ?? "not there"} at peer ${peer.slot}`,
        leaves,
      );
    const claims = oracle.bearerOf(open.evidence.token);
    const clusterId = ghost.membership?.topology.clusterId ?? "";
    const operation = claims && operationOf(ghost.crypto, clusterId, claims, generation, open, asked);
    const consent = operation === undefined ? undefined : ghost.keys.consentOf(operation, peer.slot);
    const digest = ghost.crypto.sha256(messageOf(asked));
    if (consent === undefined)
      throw new Violation("K2", `peer ${peer.slot} has no durable consent to operation ${operation}`, leaves);
    if (consent.messageDigest !== digest || consent.keyId !== keyId || consent.generation !== open.generation)
      throw new Violation(
        "K2",
        `peer ${peer.slot} consented to message ${consent.messageDigest} with generation ${consent.generation} of ${consent.keyId}`,
        `${leaves}, where message ${digest} is asked for`,
      );
    if (told.get(name)?.includes(digest) !== true)
      throw new Violation("K2", `no package names message ${digest} to peer ${peer.slot}`, leaves);
  };
  return {
    id: "K2",
    delivered: ({ slot }, message, from) => {
      if (message._tag === "Sign.Open") {
        const name = `${slot} ${sessionOf(from, message.sessionId)}`;
        if (opened.get(name) === undefined) opened.set(name, message);
      }
      if (message._tag === "Sign.Package")
        for (const { sessionId, messageDigest } of message.items) {
          const name = `${slot} ${sessionOf(from, sessionId)}`;
          told.set(name, [...(told.get(name) ?? []), messageDigest]);
        }
    },
    sent: (peer, message, to) => {
      if (message._tag !== "Sign.Share" || ghost.isLying(peer.slot) || peer.isDamaged) return;
      for (const { sessionId } of message.items) assertConsented(peer, sessionOf(to, sessionId));
    },
  };
};
