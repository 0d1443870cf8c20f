/** A member that takes the registry over from the others, one step at a time. */
import { founded } from "./Cluster.ts";
import { declare, register, stateOf } from "./Restoring.ts";
import { openStep, type WholeStep } from "./OpenStep.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Recovery, Transfer } from "../../core/protocol/RecoveryState.ts";
import { slotKey } from "../../core/protocol/Tables.ts";
import type { StepResult } from "../../core/Action.ts";
import type { MessageOf } from "../../core/Message.ts";
import type { Ready } from "../../core/protocol/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";

/** Of three members the second is being restored: it has its answers, and an offer of all is on its way to it. */
const restoring = () => {
  const cluster = founded();
  register(cluster, "alice", 7);
  const answers = new Map<PeerId, Ready>();
  const offers: Array<MessageOf<"SnapshotOffer">> = [];
  cluster.tamper = (from, to, message) => {
    if (message._tag === "Ready" && to === 2) answers.set(from, message);
    if (message._tag === "SnapshotOffer") offers.push(message);
    // Whatever it has already, it is offered all.
    if (message._tag === "SnapshotRequest") return { ...message, here: undefined };
    return message._tag === "SnapshotOffer" ? undefined : message;
  };
  declare(cluster, 2);
  cluster.pass(1_500);
  const [offer] = offers;
  const {
    rejoining: { recovery },
  } = stateOf(cluster, 2);
  const { proposalId: id } = cluster.row(1, "slots", slotKey(1, 1)) ?? {};
  const receipt = id && cluster.row(1, "certificates", id)?.receipts[0];
  if (offer === undefined || recovery?.transfer === undefined || !receipt) throw new Error("nothing was offered");
  return { cluster, answers, offer, recovery, transfer: recovery.transfer, id, receipt };
};
export const { cluster, answers, offer, recovery: underWay, transfer, id: alices, receipt } = restoring();
export const AT = cluster.now;
export const OTHER = "ab".repeat(32) as Digest;

/** A step of the second, in the middle of its recovery except for the given differences. */
export const recovering = (change: Partial<Recovery> = {}): WholeStep => {
  const step = openStep(cluster, 2, cluster.now, AT);
  step.timers.clear();
  step.draft("rejoining").recovery = { ...underWay, ...change };
  return step;
};
export const moved = (change: Partial<Transfer>): Partial<Recovery> => ({ transfer: { ...transfer, ...change } });
export const ended = (step: WholeStep): StepResult => step.finish(() => undefined);
export const sent = (step: WholeStep) =>
  ended(step).thenSend.flatMap((action) => (action._tag === "Send" ? [{ to: action.to, ...action.message }] : []));
