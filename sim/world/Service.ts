/** The service as its callers see it: requests that reach a peer, answers that come back or do not, and reads. */
import type { Answer } from "../../core/Action.ts";
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { MessageOf } from "../../core/Message.ts";
import type { Rows } from "../../core/Tables.ts";
import { IntegrityFailure } from "../../runtime/PeerStore.ts";
import type { Checkers } from "../checkers/Checkers.ts";
import { saysForgotten } from "./Crowd.ts";
import type { Deadlines } from "./Deadlines.ts";
import type { Desks } from "./Desks.ts";
import type { Ghost } from "../checkers/Ghost.ts";
import { approverSubject } from "../models/approvers/ApproverSubject.ts";
import type { Asked } from "../requests/Asked.ts";
import { rowAt } from "../models/Product.ts";
import type { Subject } from "../models/Subject.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { TamperedWorld, Tampering } from "./Tampering.ts";
import type { Witness } from "../oracle/Witness.ts";
import type { Ground } from "./Ground.ts";
import type { RequestIds } from "./RequestIds.ts";
import { nameOfAnswer, situationOfReason } from "./Situations.ts";
import type { TokenKeys } from "./TokenKeys.ts";

/** The callers: told of answers, and asked what may be requested of them. */
export interface Callers {
  readonly answered: (requestId: string, answer: Answer) => void;
  /** The writer has told an entry peer that it refuses a request. */
  readonly refusedByWriter: (requestId: string, code: RejectionCode) => void;
  /** The next request goes through two peers at once. */
  readonly sendTwice: () => void;
  /** The next request goes out with two versions of its metadata at once. */
  readonly contradict: () => void;
}

interface Ports {
  readonly deadlines: Deadlines;
  readonly desks: Desks;
  readonly witness: Witness;
  readonly ghost: Ghost;
  readonly checkers: Checkers;
  readonly tokenKeys: TokenKeys;
  readonly requestIds: RequestIds;
  readonly world: TamperedWorld;
  readonly tampering: Tampering;
  /** The peer that writes. */
  readonly writer: () => SimPeer;
}

export class Service {
  callers: Callers = {
    answered: () => undefined,
    refusedByWriter: () => undefined,
    sendTwice: () => undefined,
    contradict: () => undefined,
  };
  readonly #ground: Ground;
  readonly #ports: Ports;
  readonly #replied;
  readonly #unanswered;
  readonly #read;
  /** What each request asks for, and when it left its caller, in microseconds, as long as it is open. */
  readonly #asked = new Map<string, { readonly asked: Asked; readonly at: number }>();
  /** Open requests that the writer has answered, to any peer: an answer may be lost on its way, and the next differ. */
  readonly #judged = new Set<string>();

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
    this.#replied = ports.checkers.hooks("replied");
    this.#unanswered = ports.checkers.hooks("unanswered");
    this.#read = ports.checkers.hooks("read");
  }

  /** A request id nobody else has. */
  newRequestId(): string {
    return this.#ports.requestIds.next("r");
  }

  /** Sends a mutation to a peer; false when no process runs there. */
  request(peer: SimPeer, requestId: string, said: Asked, token: string): boolean {
    const { scheduler, chronicle, pauses, observer } = this.#ground;
    const { deadlines, witness } = this.#ports;
    if (!peer.isUp) {
      observer?.acted("unreachable", peer.slot, requestId, false);
      return false;
    }
    chronicle.calls += 1;
    this.#asked.set(requestId, { asked: said, at: scheduler.now });
    witness.asked(requestId, scheduler.now, said);
    chronicle.note("request", peer.slot, "", Number(requestId.slice(1)));
    const { process } = peer;
    const { call } = said;
    pauses.whenAwake(peer, () => {
      if (!peer.isUp || peer.process !== process) return;
      const { settle } = this.#ground;
      const { tokenKeys, desks } = this.#ports;
      const actor = tokenKeys.judge(peer, token, false);
      observer?.asked(peer.slot, requestId, call, actor);
      desks.mutate(peer, requestId, { call, token, actor }, (answer) => this.#told(peer, requestId, answer));
      if (this.#asked.has(requestId)) deadlines.asked(requestId, peer, scheduler.now);
      settle(peer);
    });
    return true;
  }

  /** A peer's driver has answered a request, also one of operators: what reaches the process of it. */
  replied(peer: SimPeer, requestId: string, real: Answer): Answer {
    const { scheduler, chronicle } = this.#ground;
    const { deadlines, world, tampering } = this.#ports;
    const answer = tampering.answered?.(world, real) ?? real;
    const { asked, at: askedAt } = this.#asked.get(requestId) ?? {};
    this.#asked.delete(requestId);
    const undisturbedSince = deadlines.undisturbed(requestId)?.askedAt;
    deadlines.ended(requestId);
    this.#note(peer, requestId, answer);
    for (const hook of this.#replied)
      hook(peer, { requestId, answer, asked, askedAt, undisturbedSince, repliedAt: scheduler.now });
    if (answer._tag === "Rejected")
      for (const { reason } of answer.rejection.members) {
        const situation = situationOfReason(reason);
        if (situation !== undefined) chronicle.marks.add(situation);
      }
    return answer;
  }

  #note(peer: SimPeer, requestId: string, answer: Answer): void {
    const { chronicle, observer } = this.#ground;
    const detail = answer._tag === "Rejected" ? answer.rejection.code : answer._tag;
    chronicle.note("reply", peer.slot, detail, Number(requestId.slice(1)) || 0);
    observer?.replied(peer.slot, requestId, answer);
    chronicle.marks.add(nameOfAnswer(answer));
    if (answer._tag === "Signed" && answer.imposters.length > 0) chronicle.marks.add("an imposter was named");
  }

  /** A caller is told the answer of its peer's driver, or what its peer says where there is none. */
  #told(peer: SimPeer, requestId: string, answer: Answer): void {
    const { scheduler } = this.#ground;
    const { witness, ghost, world, tampering, writer } = this.#ports;
    if (this.#asked.delete(requestId)) {
      this.#ground.chronicle.marks.add("a peer's time to answer was up");
      this.#note(peer, requestId, answer);
      this.gaveUp(requestId);
      this.#ports.deadlines.ended(requestId);
    }
    const told = tampering.told?.(world, requestId, answer) ?? answer;
    if (ghost.isLying(peer.slot)) witness.forgot(requestId, told);
    else witness.answered(requestId, scheduler.now, told, writer().honest);
    this.callers.answered(requestId, told);
  }

  /** The writer tells an entry peer what became of a request. */
  tells({ requestId, outcome }: MessageOf<"Outcome">): void {
    if (this.#asked.has(requestId) && !saysForgotten(outcome)) this.#judged.add(requestId);
    if (outcome._tag === "Rejected") this.callers.refusedByWriter(requestId, outcome.rejection.code);
  }

  /** Whether the writer has said what became of an open request, and knew it. */
  wasJudged(requestId: string): boolean {
    return this.#judged.has(requestId);
  }

  /** Its caller has waited as long as the service promises, or longer, and its peer's driver has not answered. */
  gaveUp(requestId: string): void {
    const { scheduler } = this.#ground;
    const { deadlines } = this.#ports;
    const overdue = deadlines.undisturbed(requestId);
    if (overdue !== undefined)
      for (const hook of this.#unanswered) hook(overdue.peer, requestId, overdue.askedAt, scheduler.now);
  }

  /** No caller waits for the answer to this request any more. */
  forget(requestId: string): void {
    const { observer } = this.#ground;
    const { deadlines, witness } = this.#ports;
    deadlines.ended(requestId);
    this.#asked.delete(requestId);
    this.#judged.delete(requestId);
    witness.forgot(requestId);
    observer?.forgot(requestId);
  }

  /** Asks a peer whether it would take a mutation now. */
  askReadiness(peer: SimPeer, requestId: string): boolean {
    if (!peer.isUp) return false;
    const { chronicle, pauses, observer, settle } = this.#ground;
    chronicle.calls += 1;
    observer?.acted("readiness", peer.slot, requestId, true);
    const { process } = peer;
    pauses.whenAwake(peer, () => {
      if (peer.process === process) this.#ports.desks.readiness(peer, requestId);
      settle(peer);
    });
    return true;
  }

  /** Reads an approver from a peer's committed rows, as a GET does; undefined where none answers or it is not there. */
  read(peer: SimPeer, ref: string): Rows["approvers"] | undefined {
    const { tampering } = this.#ports;
    return this.look(peer, approverSubject, ref, tampering.read, tampering.shown);
  }

  /**
   * The same of any subject.
   *
   * @param given what a read gives, of what there is
   * @param told what becomes of that between the peer and its caller
   */
  look<R extends object>(
    peer: SimPeer,
    subject: Subject<R>,
    ref: string,
    given: (found: R | undefined) => R | undefined = (found) => found,
    told: (found: R | undefined) => R | undefined = (found) => found,
  ): R | undefined {
    const recovery = peer.state?.rejoining.recovery;
    const isOutdated = peer.state?.fitness.quarantine !== undefined;
    if (!peer.isUp || recovery?.isReadable === false) return undefined;
    // Sealed or not, it waits for a registry that somebody else has.
    if (peer.settings.joins !== undefined && peer.state?.cluster.membership === undefined) return undefined;
    if (isOutdated && this.#ports.tampering.showsOutdated !== true) return undefined;
    if (peer.isDamaged && !this.#findsNothing(peer, subject, ref)) return undefined;
    const { scheduler, chronicle, observer } = this.#ground;
    const { witness } = this.#ports;
    chronicle.calls += 1;
    const before = peer.transactions;
    // What lies in a subject's table is a row of it.
    const found = given(peer.isDamaged ? undefined : (rowAt(peer.disk, subject, ref) as R | undefined));
    observer?.acted("read", peer.slot, ref, found !== undefined);
    if (!peer.isIdle) chronicle.marks.add("read while a flush was under way");
    for (const hook of this.#read) hook(peer, { subject, ref, found, transactions: peer.transactions - before });
    const shown = told(found);
    if (recovery !== undefined) chronicle.marks.add("read at a peer that was still being restored");
    if (peer.honest || recovery !== undefined || isOutdated)
      witness.read(peer.slot, scheduler.now, ref, shown && subject.seen(shown));
    return shown;
  }

  /** Whether a peer whose rows were changed finds no record and no damage; damage that it finds puts it out. */
  #findsNothing(peer: SimPeer, subject: Subject, ref: string): boolean {
    const { state } = peer;
    if (!peer.isVerified || state?.fitness.unsealed !== true) return false;
    if (state.fitness.integrityFault !== undefined || state.rejoining.recovery !== undefined) return false;
    try {
      return rowAt(peer.disk, subject, ref) === undefined;
    } catch (fault) {
      if (!(fault instanceof IntegrityFailure)) throw fault;
      if (this.#ports.tampering.missesNothing === true) return true;
      this.#ground.chronicle.marks.add("a read found damage");
      peer.dispatch({ _tag: "IntegrityLost", where: fault.where });
      this.#ground.settle(peer);
      return false;
    }
  }
}
