/**
 * K2, K9: a share that leaves an honest peer was preceded by its flushed consent to this very message of this very
 * operation, and is of a generation that is active there. A package has named that message to it, its own commitments
 * as it had said them, and at least as many signers as it takes, each once.
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

type Open = SignMessageOf<"Sign.Open">;
type Package = SignMessageOf<"Sign.Package">["items"][number];
type Pair = Package["commitments"][number];

/** What is wrong with a package, for a signer that has committed to this. */
const packageFault = ({ commitments }: Package, own: Pair | undefined, threshold: number): string | undefined => {
  const indexes = commitments.map(({ index }) => index);
  if (new Set(indexes).size < indexes.length) return "names a signer twice";
  if (indexes.length < threshold) return `names ${indexes.length} of ${threshold} signers`;
  const said = commitments.find(({ index }) => index === own?.index);
  const isOwn = said !== undefined && said.hiding === own?.hiding && said.binding === own.binding;
  return isOwn ? undefined : "says otherwise what it has committed to";
};

export const K2 = (ghost: Ghost, oracle: Oracle): Checker => {
  /** By slot and session: everything it was opened with, of which the peer takes one, and its packages. */
  const opened = new RecentMap<ReadonlyArray<Open>>(REMEMBERED);
  const told = new RecentMap<ReadonlyArray<Package>>(REMEMBERED);
  /** By slot and session: what the peer has committed to. */
  const committed = new RecentMap<Pair>(REMEMBERED);
  /** By slot and session: the share that left; the same again tells nobody more. */
  const left = new RecentMap<string>(REMEMBERED);
  /** Why a share for this is not allowed; undefined where it is. */
  const fault = (
    peer: Watched,
    open: Open,
    packages: ReadonlyArray<Package>,
    own: Pair | undefined,
  ): readonly ["K2" | "K9", string] | undefined => {
    const asked = askedIn(open);
    if (asked === undefined) return ["K2", `peer ${peer.slot} was asked for nothing that can be signed`];
    const keyId = keyIdIn(open.evidence.path);
    const generation = generationAt(peer.store, keyId, open.generation);
    if (generation?.state !== "ACTIVE")
      return [
        "K9",
        `generation ${open.generation} of ${keyId} is ${generation?.state ?? "not there"} at peer ${peer.slot}`,
      ];
    const claims = oracle.bearerOf(open.evidence.token);
    const clusterId = ghost.membership?.topology.clusterId ?? "";
    const operation = claims && operationOf(ghost.crypto, clusterId, claims, generation, open, asked);
    const consent = operation === undefined ? undefined : ghost.keys.consentOf(operation, peer.slot);
    if (consent === undefined) return ["K2", `peer ${peer.slot} has no durable consent to operation ${operation}`];
    const digest = ghost.crypto.sha256(messageOf(asked));
    if (consent.messageDigest !== digest || consent.keyId !== keyId || consent.generation !== open.generation)
      return [
        "K2",
        `peer ${peer.slot} consented to message ${consent.messageDigest} with generation ${consent.generation} of ${consent.keyId}, where message ${digest} is asked for`,
      ];
    const naming = packages.filter(({ messageDigest }) => messageDigest === digest);
    if (naming.length === 0) return ["K2", `no package names message ${digest} to peer ${peer.slot}`];
    const faults = naming.map((each) => packageFault(each, own, generation.group.threshold));
    return faults.includes(undefined) ? undefined : ["K2", `the package for peer ${peer.slot} ${faults.join(", or ")}`];
  };
  const assertConsented = (peer: Watched, session: string): void => {
    const name = `${peer.slot} ${session}`;
    const packages = told.get(name) ?? [];
    const faults = (opened.get(name) ?? []).map((open) => fault(peer, open, packages, committed.get(name)));
    if (faults.includes(undefined)) return;
    const found = faults.find((each) => each?.[0] === "K2") ?? faults[0];
    throw new Violation(
      ...(found ?? ["K2", `peer ${peer.slot} was asked for no signature`]),
      `its share in session ${session} leaves`,
    );
  };
  return {
    id: "K2",
    delivered: ({ slot }, message, from) => {
      if (message._tag === "Sign.Open") {
        const name = `${slot} ${sessionOf(from, message.sessionId)}`;
        opened.set(name, [...(opened.get(name) ?? []), message]);
      }
      if (message._tag === "Sign.Package")
        for (const item of message.items) {
          const name = `${slot} ${sessionOf(from, item.sessionId)}`;
          told.set(name, [...(told.get(name) ?? []), item]);
        }
    },
    sent: (peer, message, to) => {
      if (message._tag === "Sign.Commit")
        committed.set(`${peer.slot} ${sessionOf(to, message.sessionId)}`, message.commitments);
      if (message._tag !== "Sign.Share" || ghost.isLying(peer.slot) || peer.isDamaged) return;
      for (const { sessionId, scalar } of message.items) {
        const session = sessionOf(to, sessionId);
        if (left.get(`${peer.slot} ${session}`) !== scalar) assertConsented(peer, session);
        left.set(`${peer.slot} ${session}`, scalar);
      }
    },
  };
};
