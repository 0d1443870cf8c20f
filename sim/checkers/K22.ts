/**
 * K22: a coordinator asks a signer again that says nothing, until it has said something; it begins with no member that
 * has just left it waiting, or has just not signed what it had committed to, while there is one that never has, nor
 * chooses the latter before one that owes it no share has had time to commit; and it names nobody as silent whom it did
 * not ask.
 */
import type { Coordinated, SigningState } from "../../core/commands/signWithKey/SigningState.ts";
import type { Message } from "../../core/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { Violation } from "../base/Violation.ts";
import { isSigning } from "../requests/KeyRequests.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";

/** Twice the interval at which signers are asked again, and some flushes, in microseconds. */
const LATEST_MICROS = 1_300_000;
/** Nobody is taken for silent in less. */
const PROMPT_MICROS = 100_000;
/** Nearly as long as one that was silent is asked last. */
const AVOIDED_MICROS = 9_000_000;
/** That long after a package nobody is asked last any more because of it: an attempt later, and some. */
const OWED_MICROS = 20_000_000;

/** When a member was asked last, and whether it has said anything since it was first. */
interface Question {
  last: number;
  isHeard: boolean;
}

interface Attempt {
  requestId: string | undefined;
  isPackaged: boolean;
  readonly asked: Map<PeerId, Question>;
  /** Who was asked anything at all. */
  readonly all: Set<PeerId>;
}

/** How a member has served this process. */
interface Service {
  /** Its answers have come at once, every one of them, and none was a refusal. */
  isPrompt: boolean;
  /** When it was asked again, having said nothing; undefined once it says something. */
  silentAt: number | undefined;
  /** When it refused a package, let it be repeated, or was found to have signed it wrong; undefined once it signs what came after. */
  withheldAt: number | undefined;
  /** When it was told of each package of which no share has come. */
  readonly owes: Map<string, number>;
}

/** A package is refused; whose fault that was shows in the step that hears it. */
interface Refusal {
  readonly from: PeerId;
  readonly at: number;
  readonly requestId: string;
  readonly imposters: number;
}

type Signing = Pick<SigningState, "requests">;

const signingOf = ({ state }: Watched): Signing | undefined =>
  (state?.modules as { readonly signing?: Signing } | undefined)?.signing;

/**
 * Milliseconds that others surely have to commit: half of a third of an attempt, of which there are three in nine tenths
 * of the time of the caller.
 */
const surelyWaited = ({ arrivedAt, attempt: { startedAt } }: Coordinated, answerMillis: number): number =>
  (0.9 * answerMillis - (startedAt - arrivedAt)) / 3 / 3 / 2;

/** Whether a peer still waits for a member's share of a session; undefined where it hears that later, perhaps too late. */
const isOpen = (peer: Watched, sessionId: string, from: PeerId): boolean | undefined => {
  if (!peer.isIdle) return undefined;
  const requests = [...(signingOf(peer)?.requests.values() ?? [])];
  return requests.some(({ attempt }) => attempt.sessionId === sessionId && attempt.chosen.includes(from));
};

const SILENT = "it does not answer";

const sessionsIn = (message: Message): ReadonlyArray<string> => {
  if (message._tag === "Sign.Open" || message._tag === "Sign.Commit" || message._tag === "Sign.Refused")
    return [message.sessionId];
  const isOfItems = message._tag === "Sign.Package" || message._tag === "Sign.Share";
  return isOfItems ? message.items.map(({ sessionId }) => sessionId) : [];
};

/** What one process knows of those it asks. */
class Coordinator {
  readonly attempts = new Map<string, Attempt>();
  readonly #services = new Map<PeerId, Service>();
  #requests: Signing["requests"] | undefined;
  /** By request: those that have signed it wrong, as far as that is known. */
  readonly #wrong = new Map<string, ReadonlyArray<PeerId>>();
  /** Sessions whose signers are known to be chosen. */
  #chosen: ReadonlySet<string> = new Set();
  #refusal: Refusal | undefined;

  asks(message: Message, to: PeerId, at: number): void {
    for (const sessionId of sessionsIn(message)) {
      const attempt = this.attempts.get(sessionId) ?? {
        requestId: undefined,
        isPackaged: false,
        asked: new Map(),
        all: new Set(),
      };
      this.attempts.set(sessionId, attempt);
      attempt.all.add(to);
      if (message._tag === "Sign.Package" && !attempt.isPackaged) {
        attempt.isPackaged = true;
        this.#lets(attempt);
      }
      const question = attempt.asked.get(to);
      const service = this.#serviceOf(to);
      if (question?.isHeard === false) Object.assign(service, { isPrompt: false, silentAt: at });
      if (message._tag === "Sign.Package") {
        if (question?.isHeard === false) service.withheldAt = at;
        service.owes.set(sessionId, service.owes.get(sessionId) ?? at);
      }
      if (question === undefined) attempt.asked.set(to, { last: at, isHeard: false });
      else question.last = at;
    }
  }

  /** @param isHeard whether a share of a session surely counts for its request; undefined: nobody knows yet */
  hears(message: Message, from: PeerId, at: number, isHeard: (sessionId: string) => boolean | undefined): void {
    const sessions = sessionsIn(message);
    if (sessions.length === 0) return;
    const service = this.#serviceOf(from);
    service.silentAt = undefined;
    if (message._tag === "Sign.Share")
      for (const sessionId of sessions) {
        // What it was told before it withheld something says nothing of it now, nor does what comes too late.
        const heard = isHeard(sessionId);
        if (heard === false || (service.owes.get(sessionId) ?? 0) <= (service.withheldAt ?? -1)) continue;
        service.withheldAt = undefined;
        if (heard === true) service.owes.delete(sessionId);
      }
    if (message._tag === "Sign.Refused") service.isPrompt = false;
    for (const sessionId of sessions) {
      const attempt = this.attempts.get(sessionId);
      const question = attempt?.asked.get(from);
      if (attempt === undefined || question === undefined) continue;
      if (at - question.last > PROMPT_MICROS) service.isPrompt = false;
      if (!attempt.isPackaged || message._tag !== "Sign.Commit") question.isHeard = true;
    }
  }

  /** A chosen one refuses, of these requests, and that is handled at once. */
  isRefused({ requests }: Signing, sessionId: string, from: PeerId, at: number): void {
    const refused = [...requests.values()].find(({ attempt }) => attempt.sessionId === sessionId);
    if (refused?.attempt.chosen.includes(from) !== true || refused.attempt.shares.has(from)) return;
    this.#refusal = { from, at, requestId: refused.requestId, imposters: refused.imposters.length };
  }

  /** Whoever refused the words of an imposter has done right. */
  #judgeRefusal(requests: Signing["requests"]): void {
    const refusal = this.#refusal;
    if (refusal === undefined) return;
    this.#refusal = undefined;
    if (requests.get(refusal.requestId)?.imposters.length === refusal.imposters)
      this.#serviceOf(refusal.from).withheldAt = refusal.at;
  }

  /**
   * Attempts that have begun, each with those that it began with.
   *
   * @param isIdle nothing waits to be heard of those who have just signed something wrong
   */
  begun(
    { requests }: Signing,
    at: number,
    isIdle: boolean,
  ): ReadonlyArray<{ readonly asked: ReadonlySet<PeerId>; readonly wrong: ReadonlyArray<PeerId> }> {
    if (requests === this.#requests) return [];
    this.#requests = requests;
    this.#judgeRefusal(requests);
    return [...requests.values()].flatMap(({ requestId, attempt: { sessionId, asked }, imposters }) => {
      const known = this.attempts.get(sessionId);
      if (known === undefined || known.requestId !== undefined) return [];
      known.requestId = requestId;
      const before = this.#wrong.get(requestId) ?? [];
      this.#wrong.set(requestId, imposters);
      for (const each of imposters) if (isIdle && !before.includes(each)) this.#serviceOf(each).withheldAt = at;
      return [{ asked, wrong: imposters }];
    });
  }

  /** Requests whose signers were chosen in this step. */
  chosen({ requests }: Signing): ReadonlyArray<Coordinated> {
    const all = [...requests.values()].filter(({ attempt }) => attempt.packagedAt !== undefined);
    const before = this.#chosen;
    this.#chosen = new Set(all.map(({ attempt }) => attempt.sessionId));
    return all.filter(({ attempt }) => !before.has(attempt.sessionId));
  }

  /** Whether a member has just left this process waiting, or not signed, and has been so ever since. */
  hasFailed(peerId: PeerId, at: number): boolean {
    const { silentAt } = this.#serviceOf(peerId);
    const isSilent = silentAt !== undefined && silentAt < at && at - silentAt < AVOIDED_MICROS;
    return isSilent || this.hasWithheld(peerId, at);
  }

  hasWithheld(peerId: PeerId, at: number): boolean {
    const { withheldAt } = this.#serviceOf(peerId);
    return withheldAt !== undefined && at - withheldAt < AVOIDED_MICROS;
  }

  /** Whether nobody could think that a member gave no share that it had committed to. */
  owesNothing(peerId: PeerId, at: number): boolean {
    return [...this.#serviceOf(peerId).owes.values()].every((toldAt) => at - toldAt > OWED_MICROS);
  }

  /** Whether a member was asked anything in an attempt of the request. */
  hasAsked(peerId: PeerId, requestId: string): boolean {
    return [...this.attempts.values()].some((attempt) => attempt.requestId === requestId && attempt.all.has(peerId));
  }

  isPrompt(peerId: PeerId, at: number): boolean {
    if (!this.#serviceOf(peerId).isPrompt) return false;
    for (const { asked } of this.attempts.values()) {
      const question = asked.get(peerId);
      if (question?.isHeard === false && at - question.last > PROMPT_MICROS) return false;
    }
    return true;
  }

  /** Takes the request's attempts out; who was not asked again in any of them, and when it was last. */
  ends(requestId: string, at: number): readonly [member: PeerId, last: number] | undefined {
    let forgotten: readonly [member: PeerId, last: number] | undefined;
    const own = [...this.attempts].filter(([, attempt]) => attempt.requestId === requestId);
    for (const [sessionId, { asked }] of own) {
      const isLast = sessionId === own.at(-1)?.[0];
      for (const [peerId, { last, isHeard }] of asked)
        if (isLast && !isHeard && at - last > LATEST_MICROS) forgotten = [peerId, last];
      this.attempts.delete(sessionId);
    }
    this.#wrong.delete(requestId);
    for (const [, attempt] of own) this.#lets(attempt);
    return forgotten;
  }

  /** Nobody is asked what it was any more. */
  #lets({ asked }: Attempt): void {
    for (const [peerId, { isHeard }] of asked) if (!isHeard) this.#serviceOf(peerId).isPrompt = false;
    asked.clear();
  }

  #serviceOf(peerId: PeerId): Service {
    const service = this.#services.get(peerId) ?? {
      isPrompt: true,
      silentAt: undefined,
      withheldAt: undefined,
      owes: new Map<string, number>(),
    };
    this.#services.set(peerId, service);
    return service;
  }
}

export const K22 = (ghost: Ghost): Checker => {
  /** Of one that was just chosen, though it did not sign its last package, while another had just been asked. */
  const assertPatient = (peer: Watched, coordinator: Coordinator, chosen: Coordinated): void => {
    const { attempt, imposters } = chosen;
    const { packagedAt = 0, startedAt, commitments, refusals, asked } = attempt;
    if (packagedAt - startedAt >= surelyWaited(chosen, peer.settings?.answerMillis ?? 0)) return;
    const failed = attempt.chosen.find((each) => coordinator.hasWithheld(each, peer.decidedAt));
    const better = [...asked].find(
      (each) =>
        each !== peer.slot &&
        !commitments.has(each) &&
        !refusals.has(each) &&
        !imposters.includes(each) &&
        !ghost.isLying(each) &&
        coordinator.owesNothing(each, peer.decidedAt),
    );
    if (failed !== undefined && better !== undefined)
      throw new Violation(
        "K22",
        `peer ${failed} has just not signed for peer ${peer.slot} what it had committed to, and peer ${better} owes it nothing`,
        `peer ${peer.slot} waited ${packagedAt - startedAt} ms for peer ${better} and chose peer ${failed}`,
      );
  };

  const all: Array<Coordinator | undefined> = [];
  const at = (slot: number): Coordinator => (all[slot] ??= new Coordinator());
  const forget = ({ slot }: Watched): void => void (all[slot] = undefined);
  return {
    id: "K22",
    booted: forget,
    stopped: forget,
    sent: ({ slot, decidedAt }, message, to) => {
      if (message._tag === "Sign.Open" || message._tag === "Sign.Package") at(slot).asks(message, to, decidedAt);
    },
    delivered: (peer, message, from, now) => {
      const coordinator = all[peer.slot];
      const signing = signingOf(peer);
      if (message._tag === "Sign.Refused" && peer.isIdle && signing !== undefined)
        coordinator?.isRefused(signing, message.sessionId, from, now);
      if (message._tag === "Sign.Commit" || message._tag === "Sign.Share" || message._tag === "Sign.Refused")
        coordinator?.hears(message, from, now, (sessionId) => isOpen(peer, sessionId, from));
    },
    stepped: (peer) => {
      const { slot, honest, state, decidedAt } = peer;
      const coordinator = all[slot];
      const signing = signingOf(peer);
      if (coordinator === undefined || signing === undefined) return;
      for (const chosen of coordinator.chosen(signing))
        if (honest && !ghost.isLying(slot)) assertPatient(peer, coordinator, chosen);
      for (const { asked, wrong } of coordinator.begun(signing, decidedAt, peer.isIdle)) {
        if (!honest || ghost.isLying(slot)) continue;
        const failed = [...asked].find((each) => coordinator.hasFailed(each, decidedAt));
        const better = (state?.cluster.membership?.peerIds ?? []).find(
          (each) =>
            each !== slot &&
            !asked.has(each) &&
            !wrong.includes(each) &&
            !ghost.isLying(each) &&
            coordinator.isPrompt(each, decidedAt),
        );
        if (failed !== undefined && better !== undefined)
          throw new Violation(
            "K22",
            `peer ${failed} has just left peer ${slot} waiting or not signed, and peer ${better} never has`,
            `at ${decidedAt} µs peer ${slot} began a signature with peer ${failed}, without peer ${better}`,
          );
      }
    },
    replied: ({ slot, honest }, { requestId, asked, answer, undisturbedSince, repliedAt }) => {
      if (asked === undefined || !isSigning(asked)) return;
      const told = answer._tag === "Rejected" && honest && !ghost.isLying(slot) ? answer.rejection.members : [];
      const unasked = told.find(
        ({ peerId, reason }) => reason === SILENT && all[slot]?.hasAsked(peerId, requestId) !== true,
      );
      if (unasked !== undefined)
        throw new Violation(
          "K22",
          `peer ${slot} did not ask peer ${unasked.peerId} to sign for request ${requestId}`,
          "it told its caller that this one does not answer",
        );
      const forgotten = all[slot]?.ends(requestId, repliedAt);
      if (forgotten === undefined || !honest || ghost.isLying(slot) || undisturbedSince === undefined) return;
      const [member, last] = forgotten;
      throw new Violation(
        "K22",
        `peer ${slot} asked peer ${member} to sign for request ${requestId} at ${last} µs and heard nothing`,
        `it had run without a pause and not asked again when it answered its caller at ${repliedAt} µs`,
      );
    },
  };
};
