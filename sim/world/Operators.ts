/**
 * Operators, each of one peer: they initialize it, bring its keys back after a start, seal it and change its keys;
 * now and then somebody without permission tries to. What they do must be in the audit of the peer.
 */
import type { Answer } from "../../core/Action.ts";
import type { Rejection } from "../../core/base/Rejection.ts";
import type { NumberedAct, OperatorAct } from "../../core/protocol/OperatorAct.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { readAudit } from "../../runtime/AuditReads.ts";
import type { PromotionAsked } from "../checkers/Checker.ts";
import type { Checkers } from "../checkers/Checkers.ts";
import type { Stream, Stretch } from "../base/Choices.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Desks } from "./Desks.ts";
import type { Ground } from "./Ground.ts";
import type { Processes } from "./Processes.ts";
import type { RequestIds } from "./RequestIds.ts";
import type { Tampering } from "./Tampering.ts";

/** How long a started peer stays sealed: mostly not long. */
const SEALED_MICROS: readonly [Stretch, ...ReadonlyArray<Stretch>] = [
  [500, 5_000],
  [500, 50_000],
  [500, 100_000],
  [500, 2_000_000],
];
const SEALED_HEALED_MICROS: readonly [Stretch] = [[500, 5_000]];
const LONGEST_SEALED_MICROS = 2_000_000;
const USUAL_SEALED_MICROS = 1_000;

/** After a start, somebody without the permission tries something: how often, and how long after it. */
const STRANGER_PER_MILLE = 300;
const STRANGER_MICROS: readonly [Stretch, ...ReadonlyArray<Stretch>] = [
  [0, 10_000],
  [0, 2_000_000],
];

/** How long an operator waits before it asks for the status of a peer that has not answered. */
const LOOKS_AGAIN_MICROS = 1_000_000;
/** Between two looks at rows that were not verified before the unseal: slow, so that much happens before the last. */
const VERIFIES_AFTER_MICROS = 150_000;

/** What a seal or an unseal under way will have written. */
interface UnderWay {
  readonly process: number;
  readonly act: OperatorAct;
  readonly acts: ReadonlyArray<NumberedAct>;
}

interface Ports {
  readonly desks: Desks;
  readonly checkers: Checkers;
  /** By slot: who else tries. */
  readonly strangers: ReadonlyArray<Stream>;
  readonly processes: Processes;
  readonly requestIds: RequestIds;
  readonly tampering: Tampering;
  /** Of how many peers the cluster consists that a peer, by slot, is to found or to enter. */
  readonly foundedBy: (slot: number) => number;
}

/** How many of so many peers sign. */
export const thresholdOf = (total: number): number => (total === 1 ? 1 : Math.floor(total / 2) + 1);

export class Operators {
  readonly #ground: Ground;
  readonly #ports: Ports;
  readonly #operated;
  readonly #promoting;
  /** By slot. */
  readonly #unsealing = new Map<number, UnderWay>();
  readonly #sealing = new Map<number, UnderWay>();

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
    this.#operated = ports.checkers.hooks("operated");
    this.#promoting = ports.checkers.hooks("promoting");
  }

  /** How the audit of a peer is read. */
  get readAudit(): typeof readAudit {
    return this.#ports.tampering.audited?.(readAudit) ?? readAudit;
  }

  /** An act of an operator of this peer. */
  #act(peer: SimPeer, call: OperatorAct["call"], outcome = "APPLIED"): OperatorAct {
    const act: OperatorAct = {
      at: 0,
      call,
      actor: { iss: undefined, sub: "operator", jti: undefined },
      requestId: this.#ports.requestIds.next(`${call.toLowerCase()}-${peer.slot}-`),
      request: { method: "POST", path: "/v1/custody/system", bodyDigest: undefined },
      outcome,
      detail: "",
      times: 1,
    };
    this.#tell(peer, act, false);
    return act;
  }

  #tell(peer: SimPeer, act: OperatorAct, isAnswered: boolean): void {
    for (const hook of this.#operated) hook(peer, act, isAnswered);
  }

  /** Records an act that is in no transaction, and answers its caller. */
  #record(peer: SimPeer, act: OperatorAct, then: () => void = () => undefined): void {
    const { process } = peer;
    peer.log?.record(act, (failure) => {
      if (peer.process !== process || !peer.isUp) return;
      if (failure !== undefined) return this.#lookAgain(peer);
      this.#tell(peer, act, true);
      then();
    });
    this.#ground.settle(peer);
  }

  /** A seal or an unseal is done: its act is in its transaction, or is recorded by itself where nothing could be written. */
  #conclude(peer: SimPeer, underWay: Map<number, UnderWay>): void {
    const found = underWay.get(peer.slot);
    underWay.delete(peer.slot);
    if (found === undefined || found.process !== peer.process) return;
    if (peer.log?.hasWritten(found.acts) === true) this.#tell(peer, found.act, true);
    else this.#record(peer, found.act);
  }

  /** Has a peer write acts into its audit. */
  audit(peer: SimPeer, acts: ReadonlyArray<NumberedAct>, done: (isAudited: boolean | undefined) => void): void {
    this.#ask(
      peer,
      "audit",
      (requestId) => peer.dispatch({ _tag: "Operated", requestId, acts }),
      (answer) => done(answer._tag === "Audited" ? answer.done : undefined),
    );
  }

  #ask(peer: SimPeer, what: string, start: (requestId: string) => void, done: (answer: Answer) => void): void {
    const { desks, requestIds } = this.#ports;
    desks.ask(peer, requestIds.next(`${what}-${peer.slot}-`), start, done);
  }

  /** Somebody without permission tries something. */
  #try(peer: SimPeer): void {
    const { scheduler, chronicle } = this.#ground;
    const unit = this.#ports.strangers[peer.slot]?.next();
    if (chronicle.isHealed || unit?.chance("somebody tries who may not", STRANGER_PER_MILLE) !== true) return;
    const { process } = peer;
    scheduler.after(unit.spread("after", 0, STRANGER_MICROS, 0, 2_000_000), () => {
      if (!peer.isUp || peer.process !== process || chronicle.isHealed) return;
      chronicle.marks.add("an operator without permission was refused");
      this.#record(peer, this.#act(peer, "SEAL", "ACCESS_DENIED"));
    });
  }

  /** A process has come up, and needs a vault or the keys in it. */
  welcome(peer: SimPeer): void {
    // An operator does not initialize a peer again, even where the peer has forgotten that it was.
    if (peer.state?.cluster.peer === undefined && !peer.isDamaged) {
      // Before anything is done: keys that no caller is known to have asked for must not be.
      this.#record(peer, this.#act(peer, "INITIALIZE", "ASKED"), () => this.#initialize(peer));
    } else this.#unsealSoon(peer);
    this.#try(peer);
  }

  #initialize(peer: SimPeer): void {
    const { identity, integrity } = peer.keys;
    const total = this.#ports.foundedBy(peer.slot);
    const start = (requestId: string): void =>
      peer.dispatch({
        _tag: "Initialize",
        requestId,
        peerId: peer.peerId,
        threshold: thresholdOf(total),
        total,
        identityKey: identity.publicKey,
        integrityKey: integrity.publicKey,
        vault: new Uint8Array(8),
      });
    this.#ask(peer, "init", start, (answer) => {
      if (answer._tag === "Initialized")
        this.#record(peer, this.#act(peer, "INITIALIZE"), () => this.#unsealSoon(peer));
      else this.#lookAgain(peer);
    });
  }

  /** Something was not written in time: its operator asks for the status, and goes on from there. */
  #lookAgain(peer: SimPeer): void {
    const { process } = peer;
    this.#ground.scheduler.after(LOOKS_AGAIN_MICROS, () => {
      if (peer.isUp && peer.process === process) this.welcome(peer);
    });
  }

  /** Brings the keys back after a while, if the process that runs now still does. */
  #unsealSoon(peer: SimPeer): void {
    const { scheduler, chronicle } = this.#ground;
    const { processes } = this.#ports;
    const { process } = peer;
    const stretches = chronicle.isHealed ? SEALED_HEALED_MICROS : SEALED_MICROS;
    const unit = processes.unitOf(peer);
    const wait = unit.spread("is unsealed after", USUAL_SEALED_MICROS, stretches, 500, LONGEST_SEALED_MICROS);
    // The second half of that is the verification of its rows, with the keys in memory and not in use.
    scheduler.after(Math.floor(wait / 2), () => {
      if (peer.isUp && peer.process === process) this.#verify(peer);
    });
    scheduler.after(wait, () => {
      if (peer.isUp && peer.process === process && (peer.isVerifying || !peer.hasKeys)) this.unseal(peer);
    });
  }

  /** The keys of a sealed peer are in its memory, and its rows are being verified. */
  #verify(peer: SimPeer): void {
    if (peer.hasKeys || peer.isSealing || peer.state?.cluster.peer === undefined) return;
    this.#ground.chronicle.note("verify", peer.slot, "");
    peer.beginUnseal();
    this.#ground.settle(peer);
  }

  /** Brings a sealed peer's keys back, its rows verified; after a seal that is under way, as on a real peer. */
  unseal(peer: SimPeer): void {
    peer.unsealsNext = peer.isSealing;
    if (!peer.isUp || peer.isSealing || peer.state?.cluster.peer === undefined) return;
    this.#verify(peer);
    if (!peer.isVerifying) return;
    this.#ground.chronicle.note("unseal", peer.slot, "");
    const act = this.#act(peer, "UNSEAL");
    const acts = peer.unseal(act);
    if (acts.length > 0) this.#unsealing.set(peer.slot, { process: peer.process, act, acts });
    else peer.log?.handOver();
    this.#ground.settle(peer);
    if (peer.disk.verifiesLater) this.#verifyLater(peer);
  }

  /** Its other rows are verified while it is at work. */
  #verifyLater(peer: SimPeer): void {
    const { process } = peer;
    this.#ground.scheduler.after(VERIFIES_AFTER_MICROS, () => {
      if (!peer.isUp || peer.process !== process || peer.signer === undefined) return;
      const hasMore = peer.verifyMore();
      this.#ground.settle(peer);
      if (hasMore) this.#verifyLater(peer);
    });
  }

  /** Asks an unsealed peer to seal itself, which waits for what is under way. */
  seal(peer: SimPeer): void {
    if (!peer.isUp || !peer.hasKeys) return;
    if (peer.isVerifying) this.#ground.chronicle.marks.add("sealed while its rows were verified");
    this.#ground.chronicle.note("seal", peer.slot, "");
    if (peer.isSealing) peer.dispatch({ _tag: "Sealed" });
    else {
      const act = this.#act(peer, "SEAL");
      const acts = peer.log?.withWaiting(act) ?? [];
      this.#sealing.set(peer.slot, { process: peer.process, act, acts });
      peer.dispatch({ _tag: "Sealed", acts });
    }
    peer.isSealing = true;
    peer.unsealsNext = false;
    this.#ground.settle(peer);
  }

  /** Takes the keys of a peer away that has handled its seal, and has nothing under way. */
  finishSeal(peer: SimPeer, { fitness: { unsealed, verifying } }: PeerState): void {
    if (!peer.isSealing || unsealed || verifying || !peer.isIdle) return;
    peer.isSealing = false;
    peer.forgetKeys();
    this.#conclude(peer, this.#sealing);
    this.#try(peer);
  }

  /** A peer that was given its keys has published that: its record of what operators did meanwhile follows. */
  finishUnseal(peer: SimPeer, { fitness: { unsealed } }: PeerState): void {
    if (!unsealed || !this.#unsealing.has(peer.slot)) return;
    this.#conclude(peer, this.#unsealing);
    peer.log?.handOver();
  }

  /** Somebody asks a peer for its promotion. */
  promote(
    peer: SimPeer,
    { plan, who, dryRun }: Pick<PromotionAsked, "plan" | "who" | "dryRun">,
    refused: (rejection: Rejection) => void,
  ): void {
    if (!peer.isUp) return;
    this.#ground.chronicle.note("promote", peer.slot, "");
    const { marks } = this.#ground.chronicle;
    const { tampering } = this.#ports;
    this.#ask(
      peer,
      "promote",
      (requestId) => {
        for (const hook of this.#promoting) hook(peer, { requestId, plan, who, dryRun });
        const event = { _tag: "Promote" as const, requestId, plan, actor: who.check, dryRun };
        peer.dispatch(tampering.promoted?.(event) ?? event);
      },
      (answer) => {
        if (answer._tag === "Rejected") {
          marks.add(`a promotion was refused: ${answer.rejection.code}`);
          refused(answer.rejection);
        }
        if (answer._tag === "Promotion") marks.add(dryRun ? "a promotion was tried" : "a promotion was accepted");
      },
    );
    this.#ground.settle(peer);
  }

  /** An operator says that a peer's disk is an older one. */
  declareRestore(peer: SimPeer): void {
    const act = this.#act(peer, "RESTORE");
    const acts = peer.log?.withWaiting(act) ?? [];
    const start = (requestId: string): void => peer.dispatch({ _tag: "DeclareRestore", requestId, acts });
    this.#ask(peer, "restore", start, (answer) => {
      if (answer._tag === "Restoring" && answer.incarnation !== undefined) this.#tell(peer, act, true);
      else if (answer._tag === "Restoring") this.#record(peer, act);
    });
  }

  /** Brings back the keys that were asked for while a seal was under way, once it is done. */
  unsealNext(peer: SimPeer): void {
    if (peer.unsealsNext && !peer.isSealing) this.unseal(peer);
  }

  /** Gives an unsealed peer a new integrity key. */
  rotateIntegrity(peer: SimPeer): void {
    if (!peer.isUp || peer.signer === undefined || peer.isSealing) return;
    this.#ground.chronicle.note("rotate the integrity key", peer.slot, "");
    const act = this.#act(peer, "ROTATE_INTEGRITY_KEY");
    const start = (requestId: string): void => peer.rotateIntegrity(requestId, act);
    this.#ask(peer, "rotate", start, (answer) => {
      if (answer._tag === "Rotated") this.#tell(peer, act, true);
    });
    this.#ground.settle(peer);
  }
}
