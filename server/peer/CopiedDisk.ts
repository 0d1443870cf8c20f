/**
 * A peer whose database was made by a backup speaks from an old disk: whoever put it there, the restore is declared at
 * every start, before anybody can unseal the peer, until its new incarnation is stored (protocol.md 4i). A cluster of
 * one goes on from what it has, and its log says so.
 */
import { Effect } from "effect";
import type { Scope } from "effect/Scope";
import type { OperatorAct } from "../../core/protocol/OperatorAct.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { SqliteByteStore } from "../sqlite/SqliteByteStore.ts";
import type { Log } from "./Log.ts";
import { Operation } from "./Operation.ts";
import type { OperatorAudit } from "./OperatorAudit.ts";
import type { Peer } from "./Peer.ts";

const CHECK_MILLIS = 200;

export interface CopiedDiskPorts {
  readonly peer: Peer;
  readonly audit: OperatorAudit;
  readonly log: Log;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** No operator calls: the disk itself is the reason, and the audit says so. */
const actOf = (at: number): OperatorAct => ({
  at,
  call: "RESTORE",
  actor: { iss: undefined, sub: "custody server", jti: undefined },
  requestId: "start",
  request: { method: "START", path: "custody.db", bodyDigest: undefined },
  outcome: "ACCEPTED",
  detail: "the database is a backup's; it begins with the unseal of this process",
  times: 1,
});

const declare = async (
  { adopt }: Pick<SqliteByteStore, "adopt">,
  { peer, audit, log, now }: CopiedDiskPorts,
): Promise<() => void> => {
  const before = peer.state.signed.chain.incarnation;
  const operation = new Operation(actOf(now()));
  const declared = await peer.restore(operation);
  if (declared._tag === "Rejected") operation.tell(declared.rejection.code, "the database is a backup's");
  try {
    await audit.done(operation.act, operation.isWritten);
  } catch (fault) {
    log.error("audit", { reason: fault instanceof Error ? fault.message : "unknown" });
  }
  const isAlone = declared._tag === "Rejected" && declared.rejection.code === "RESTORE_IMPOSSIBLE";
  if (declared._tag === "Rejected")
    log.warn("the database is a backup's: no restore can be declared", {
      reason: `${declared.rejection.detail} ${declared.rejection.hint}`,
    });
  else
    log.warn("the database is a backup's: a restore is declared", {
      reason: "it begins with the unseal, and takes the registry from the other members",
    });
  const isSettled = ({ fitness, signed }: PeerState): boolean =>
    fitness.unsealed && fitness.integrityFault === undefined && (isAlone || signed.chain.incarnation !== before);
  const stop = (): void => clearInterval(watch);
  const look = (): void => {
    if (!isSettled(peer.state)) return;
    stop();
    adopt();
  };
  const watch = setInterval(look, CHECK_MILLIS).unref();
  return () => {
    // It may have settled since the last look; taking the mark off twice changes nothing.
    look();
    stop();
  };
};

/** Declares the restore of a peer on a copy, and takes the mark off once it is stored; watches until the scope closes. */
export const declareCopied = (
  bytes: Pick<SqliteByteStore, "adopt" | "isCopy">,
  ports: CopiedDiskPorts,
): Effect.Effect<void, never, Scope> =>
  bytes.isCopy
    ? Effect.asVoid(
        Effect.acquireRelease(
          Effect.promise(() => declare(bytes, ports)),
          (stopWatching) => Effect.sync(stopWatching),
        ),
      )
    : Effect.void;
