/** Members of a test cluster that ask each other whether they are ready. */
import { Cluster, founded } from "./Cluster.ts";
import { register } from "./Restoring.ts";
import { openStep, type WholeStep, wholeStep } from "./OpenStep.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { slotKey } from "../../core/protocol/Tables.ts";
import type { Step } from "../../core/protocol/Step.ts";
import type { StepResult } from "../../core/Action.ts";
import type { Ready } from "../../core/protocol/Message.ts";
import { probe } from "../../core/protocol/Readiness.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";

/** Three members who have registered an approver, and the answers of the two others, who are ready, to the writer. */
const answering = () => {
  const cluster = founded();
  register(cluster, "alice", 7);
  cluster.pass(2_000);
  const answers = new Map<PeerId, Ready>();
  cluster.tamper = (from, to, message) => {
    if (message._tag === "Ready" && to === 1) answers.set(from, message);
    return message;
  };
  cluster.peers.get(1)?.dispatch({ _tag: "CheckReadiness", requestId: "ready?" });
  cluster.settle();
  const { proposalId = "" } = cluster.row(1, "slots", slotKey(1, 1)) ?? {};
  const [receipt] = cluster.row(1, "certificates", proposalId)?.receipts ?? [];
  if (receipt === undefined) throw new Error("alice is registered");
  return { cluster, answers, receipt };
};
export const { cluster, answers, receipt } = answering();
export const AT = cluster.now;
export const OTHER = "ab".repeat(32) as Digest;

export type Become = (step: Step) => void;
export const asItIs: Become = () => undefined;

/** A step of a member that has asked no other whether it is ready, and is so itself except for the given change. */
export const memberStep = (peerId: PeerId, become: Become = asItIs, of: Cluster = cluster): WholeStep => {
  const step = openStep(of, peerId, AT, AT);
  step.timers.clear();
  step.draft("probing").verdict = undefined;
  become(step);
  return step;
};

/** A step in which the writer has asked. */
export const asking = (become: Become = asItIs): WholeStep => {
  const step = memberStep(1, become);
  probe(step);
  return step;
};

/** The next step of the same peer, whose wall clock may have been set meanwhile. */
export const later = ({ state, context }: WholeStep, millis: number, setBy = 0): WholeStep =>
  wholeStep(state, { ...context, now: context.now + millis + setBy, elapsed: context.elapsed + millis });

export const ended = (step: WholeStep): StepResult => step.finish(asItIs);

export const replies = (step: WholeStep): ReadonlyArray<unknown> =>
  ended(step).thenSend.flatMap((action) => (action._tag === "Reply" ? [[action.requestId, action.answer]] : []));
