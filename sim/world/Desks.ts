/**
 * What waits for an answer at each peer, as at a real one: callers until their time is up, requests that the driver's
 * mailbox has no room for yet, operators. It ends with the process.
 */
import type { Answer } from "../../core/Action.ts";
import { Callers, gateLimits, type Mutation } from "../../runtime/Callers.ts";
import { CommandGate } from "../../runtime/CommandGate.ts";
import { Replies } from "../../runtime/Replies.ts";
import type { Later } from "../../runtime/Time.ts";
import type { DeskAct } from "../checkers/Checker.ts";
import type { Checkers } from "../checkers/Checkers.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import type { Ground } from "./Ground.ts";
import { processTime } from "./ProcessTime.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Tampering } from "./Tampering.ts";

interface Ports {
  readonly cryptography: Cryptography;
  readonly checkers: Checkers;
  readonly tampering: Tampering;
}

interface Desk {
  readonly process: number;
  readonly callers: Callers;
}

export class Desks {
  readonly #ground: Ground;
  readonly #ports: Ports;
  readonly #deskHooks;
  /** Those of each peer's newest process, by slot. */
  readonly #desks: Array<Desk | undefined> = [];
  /** The name of the request that is being asked; the world gives names before anybody asks. */
  #name = "";

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
    this.#deskHooks = ports.checkers.hooks("atDesk");
  }

  /** A caller asks a peer for a change; `done` is told what its peer tells it, once, unless the process ends. */
  mutate(peer: SimPeer, requestId: string, mutation: Mutation, done: (answer: Answer) => void): void {
    this.#name = requestId;
    const { actor } = mutation;
    const caller = actor._tag === "Verified" ? JSON.stringify([actor.claims.iss, actor.claims.sub]) : "";
    this.#tell(peer, "came", requestId, undefined, caller);
    this.#of(peer).mutate(
      mutation,
      () => this.#tell(peer, "entered", requestId, undefined),
      (answer) => {
        this.#tell(peer, "told", requestId, answer);
        done(answer);
      },
    );
  }

  /** Asks a peer whether it would take a change now. */
  readiness(peer: SimPeer, requestId: string): void {
    this.#name = requestId;
    this.#of(peer).readiness(() => undefined);
  }

  /** Somebody asks something else of a peer, with `start`. */
  ask(peer: SimPeer, requestId: string, start: (requestId: string) => void, done: (answer: Answer) => void): void {
    this.#name = requestId;
    this.#tell(peer, "asked", requestId, undefined);
    const told = (answer: Answer): void => {
      this.#tell(peer, "told", requestId, answer);
      done(answer);
    };
    this.#of(peer).ask(start, told, "It was not written in time.");
  }

  /** The driver of a peer has answered. */
  answer(peer: SimPeer, requestId: string, answer: Answer): void {
    this.#tell(peer, "answered", requestId, answer);
    this.#of(peer).answer(requestId, answer);
  }

  #tell(peer: SimPeer, what: DeskAct["what"], requestId: string, answer: Answer | undefined, caller = ""): void {
    const promised = peer.settings.answerMillis * 1_000;
    const act: DeskAct = { what, requestId, caller, answer, at: this.#ground.scheduler.now, promised };
    for (const hook of this.#deskHooks) hook(peer, act);
  }

  #of(peer: SimPeer): Callers {
    const desk = this.#desks[peer.slot];
    if (desk?.process === peer.process) return desk.callers;
    const callers = this.#newCallers(peer);
    this.#desks[peer.slot] = { process: peer.process, callers };
    return callers;
  }

  #newCallers(peer: SimPeer): Callers {
    const { cryptography, tampering } = this.#ports;
    const { later: real } = processTime(this.#ground, peer);
    const later: Later = (run, afterMillis) =>
      real(() => {
        run();
        this.#ground.settle(peer);
      }, afterMillis);
    const replyPorts = { later, newName: () => this.#name };
    const limits = gateLimits(peer.settings.capacities);
    return new Callers({
      settings: peer.settings,
      commands: peer.composition,
      means: cryptography,
      replies: tampering.replies?.(replyPorts) ?? new Replies(replyPorts),
      gate: tampering.gate?.(later, limits) ?? new CommandGate(later, limits),
      dispatch: (event, consumed) => {
        if (event._tag !== "Command") return peer.dispatch(event, consumed);
        const { requestId } = event;
        return peer.dispatch(tampering.asked?.(peer, event) ?? event, () => {
          this.#tell(peer, "left", requestId, undefined);
          consumed?.();
        });
      },
      self: () => peer.state?.cluster.peer?.peerId ?? 0,
    });
  }
}
