/** Requests that callers wait for: each is answered, or given up, once. */
import { Violation } from "../base/Violation.ts";
import type { Answer } from "../../core/Action.ts";
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { Token, TokenKind } from "../requests/Commands.ts";
import { FinishClaims } from "../requests/FinishClaims.ts";
import { isFinish, isInvite } from "../requests/EnrollmentRequests.ts";
import { OfferedOptions } from "../requests/OfferedOptions.ts";
import type { Asked } from "../requests/Asked.ts";
import { assertValidity, markOfEdge } from "../requests/Validity.ts";
import { type Arrival, arrivalAt, assertFair, assertNotForgotten, type HolderOf, isCrowdable } from "../world/Crowd.ts";
import { markOf, ruleMarks } from "../requests/Rules.ts";
import { nameOfAnswer } from "../world/Situations.ts";
import { RefusedFinishes } from "../requests/RefusedFinishes.ts";
import { assertDeserved } from "../requests/Refusal.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import { isSuccess, type Success } from "../requests/Success.ts";
import type { World } from "../world/World.ts";
import type { Outcome } from "../requests/Outcome.ts";

/** How long a caller waits; the service answers within 10 s. */
const PATIENCE_MICROS = 12_000_000;

interface OpenRequest {
  readonly asked: Asked;
  readonly token: Token;
  readonly done: (outcome: Outcome) => void;
  readonly peer: SimPeer;
  /** Which process of the peer was asked, and when, in microseconds. */
  readonly process: number;
  readonly askedAt: number;
  readonly arrival: Arrival;
}

/** Whether a response was looked at and refused: one without a valid invitation belongs to no session. */
const isRefusedResponse = (answer: Answer): boolean =>
  answer._tag === "Rejected" &&
  answer.rejection.code === "INVALID_CEREMONY" &&
  answer.rejection.faults.every(({ pointer }) => pointer !== "/invitation");

export class OpenRequests {
  readonly #world: World;
  readonly #succeeded: (asked: Asked, answer: Success) => void;
  readonly #open = new Map<string, OpenRequest>();
  readonly #refusedFinishes: RefusedFinishes;
  /** Responses that were sent, to which sessions, and whether the writer has refused one. */
  readonly #responses = new Map<
    string,
    { readonly registrationId: string; readonly sub: string; isRefused: boolean }
  >();
  readonly #finishClaims = new FinishClaims();
  readonly #offeredOptions = new OfferedOptions();

  /** `succeeded` hears of every success before its caller does. */
  constructor(world: World, succeeded: (asked: Asked, answer: Success) => void) {
    this.#world = world;
    this.#succeeded = succeeded;
    this.#refusedFinishes = new RefusedFinishes(world.plan.capacities);
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Sends one request under a token of a kind that lives for so long, and tells what came of it, once. */
  send(peer: SimPeer, asked: Asked, kind: TokenKind, lifetimeMillis: number, done: (outcome: Outcome) => void): void {
    const world = this.#world;
    const requestId = world.service.newRequestId();
    const permission = asked.permission ?? world.product.modelOf(asked).permission;
    const token = world.commands.token(kind, world.realMillis, lifetimeMillis, permission);
    const arrival = arrivalAt(peer, world.peer(world.writerSlot), world.now / 1000);
    this.#open.set(requestId, { asked, token, done, peer, process: peer.process, askedAt: world.now, arrival });
    if (isFinish(asked)) {
      this.#finishClaims.asked(asked);
      this.#offeredOptions.asked(asked);
      const sender = { registrationId: asked.registrationId, sub: token.claims.sub };
      this.#responses.set(requestId, { ...sender, isRefused: false });
      this.#refusedFinishes.asked(sender);
    }
    world.after(PATIENCE_MICROS, () => this.#close(requestId, "silence"));
    if (!world.service.request(peer, requestId, asked, token.text)) this.#close(requestId, "unreachable");
  }

  /** The writer refuses a request, or another copy of it. */
  refusedByWriter(requestId: string, code: RejectionCode): void {
    const response = this.#responses.get(requestId);
    if (response?.isRefused === true) this.#refusedFinishes.copied(response, code);
    else if (response !== undefined) response.isRefused = true;
  }

  /** Takes an answer to one of them. Throws a Violation where the caller did not ask for it, or does not deserve it. */
  answered(requestId: string, answer: Answer): void {
    const open = this.#open.get(requestId);
    if (open === undefined) return;
    if (isSuccess(answer)) {
      this.#assertMeant(requestId, open, answer);
      assertValidity(requestId, open.asked, answer);
      this.#offered(requestId, open, answer);
      const { asked, token } = open;
      if (isFinish(asked))
        this.#refusedFinishes.succeeded({ registrationId: asked.registrationId, sub: token.claims.sub });
      this.#succeeded(open.asked, answer);
    } else this.#refused(requestId, open, answer);
    this.#met(open, answer);
    this.#close(requestId, answer);
  }

  /** A liar may do for its own callers what it likes; what others do for them is judged with them. */
  #assertMeant(requestId: string, { peer, asked, token }: OpenRequest, answer: Success): void {
    if (peer.isLying && this.#world.tokenKeys.believed.has(token.text)) return;
    try {
      this.#world.product.modelOf(asked).assertMeant(requestId, asked, token.kind, answer);
    } catch (fault) {
      // It may have asked for something else under its caller's name.
      if (!(peer.isLying && fault instanceof Violation && fault.id === "S14")) throw fault;
    }
  }

  /** Options say what was enrolled before. A member that lies may enroll for callers of its own, and say anything. */
  #offered(requestId: string, { asked, askedAt }: OpenRequest, answer: Success): void {
    const { ghost, now } = this.#world;
    if (ghost.lying > 0) return;
    if (isFinish(asked)) this.#offeredOptions.enrolled(asked, now);
    if (isInvite(asked) && answer._tag === "Offered")
      this.#offeredOptions.offered({ requestId, id: asked.id, askedAt, offer: answer.offer });
  }

  /** Notes which rules of the contract were met by a request and its answer. */
  #met({ asked, token }: OpenRequest, answer: Answer): void {
    const { marks } = this.#world;
    const met = [markOf(asked.kind, nameOfAnswer(answer)), markOfEdge(asked, answer)];
    if (token.kind === "forbidden" && isSuccess(answer)) met.push(`${asked.kind}: without permission`);
    for (const mark of met) if (mark !== undefined && ruleMarks.has(mark)) marks.add(mark);
  }

  /** A caller may be told that its token is no good only if some peer had reason to think so of this very one. */
  #refused(requestId: string, { asked, token, peer, process, askedAt, arrival }: OpenRequest, answer: Answer): void {
    const { tokenKeys, ghost, clocks, now, plan, service, writerSlot } = this.#world;
    // A liar may give any reason.
    if (ghost.lying > 0) return;
    assertValidity(requestId, asked, answer);
    if (answer._tag === "Rejected") {
      clocks.assertNamed(requestId, answer.rejection.members);
      const { code } = answer.rejection;
      if (isFinish(asked)) this.#finishClaims.refused(requestId, asked, code);
      if (isFinish(asked) && code === "TOO_MANY_ATTEMPTS")
        this.#refusedFinishes.tooMany(requestId, { registrationId: asked.registrationId, sub: token.claims.sub });
    }
    const writer = this.#world.peer(writerSlot);
    const { queuedCommands } = plan.capacities;
    if (queuedCommands !== undefined && isCrowdable(plan.capacities))
      assertFair(peer, requestId, answer, (each) => this.#holderOf(each), queuedCommands);
    // The writer may have forgotten, when it is asked again, what it refused once if that refusal was lost.
    if (!clocks.isAny && !service.wasJudged(requestId)) assertNotForgotten(requestId, arrival, peer, writer, answer);
    const { isNeeded } = this.#world.product.modelOf(asked).permission;
    // By a wrong clock a token is expired or not valid yet, for a peer that has no reason to doubt that clock.
    if (!clocks.mayMislead && !tokenKeys.disbelieved.has(token.text))
      assertDeserved(requestId, token.kind, isNeeded, answer);
    if (!isRefusedResponse(answer) || !isFinish(asked) || process !== peer.process) return;
    const { registrationId } = asked;
    const { slot } = peer;
    this.#refusedFinishes.refused({ slot, process, registrationId, sub: token.claims.sub, askedAt, now });
  }

  #holderOf(requestId: string): ReturnType<HolderOf> {
    const open = this.#open.get(requestId);
    return open && { subject: open.token.claims.sub, bytes: open.asked.call.rawBody.length };
  }

  #close(requestId: string, outcome: Outcome): void {
    const open = this.#open.get(requestId);
    if (open === undefined) return;
    this.#open.delete(requestId);
    if (outcome === "silence") this.#world.service.gaveUp(requestId);
    this.#world.service.forget(requestId);
    open.done(outcome);
  }
}
