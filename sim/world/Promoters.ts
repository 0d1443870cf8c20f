/** The operators of an instance that is promoted: they ask for it until it is done, and at times others ask too. */
import type { Rejection } from "../../core/base/Rejection.ts";
import { allRows } from "../../core/protocol/AllRows.ts";
import type { PromotionPlan } from "../../core/protocol/PromotionPlan.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import type { Membership } from "../../core/protocol/Topology.ts";
import type { Unit } from "../base/Choices.ts";
import type { Asked } from "../requests/Asked.ts";
import { creation, ending } from "../requests/KeyRequests.ts";
import { operatorAt, otherPromoter, type Promoter } from "../requests/Promoter.ts";
import { thresholdOf } from "./Operators.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { World } from "./World.ts";

const SECOND = 1_000_000;
const TOKEN_MILLIS = 60_000;
const OBSTACLE = { algorithm: "P256", scheme: "ECDSA", assetOwner: undefined };
/** How a target begins to say that it has accepted another draft. */
const BOUND = "it is bound to the promotion";
/** How often others try in all, and how long after each other. */
const OTHERS = 12;
const LEAST_MICROS = 20_000;
const USUAL_MICROS = 300_000;
const MOST_MICROS = SECOND;

/** The membership of the newest epoch that a running peer knows. */
export const newestAt = (peers: ReadonlyArray<SimPeer>): Membership | undefined => {
  let newest: Membership | undefined;
  for (const { state } of peers) {
    const membership = state?.cluster.membership;
    if (membership !== undefined && membership.topology.epoch > (newest?.topology.epoch ?? 0)) newest = membership;
  }
  return newest;
};

export class Promoters {
  readonly #world: World;
  #others = 0;
  #obstacles = 0;

  constructor(world: World) {
    this.#world = world;
    const { promotion } = world.plan;
    if (promotion === undefined) return;
    const { peerId, keys } = world.peer(promotion.source);
    const joins = { peerId, identityKey: keys.identity.publicKey };
    for (const peer of world.peers) if (peer.slot !== promotion.source) peer.settings = { ...peer.settings, joins };
  }

  start(): void {
    const { promotion } = this.#world.plan;
    if (promotion === undefined) return;
    this.#world.after(promotion.afterMicros, () => this.#ask());
    const unit = this.#world.choices.stream("other promoters").next();
    if (unit.chance("others try too", 900)) this.#tryAgain(unit);
  }

  /** Whether its operators have nothing left to ask for. */
  get isDone(): boolean {
    const { promotion } = this.#world.plan;
    if (promotion === undefined) return true;
    return this.#world.peer(promotion.source).state?.cluster.promotion.own?.stage === "DONE";
  }

  #ask(): void {
    const { promotion, peers } = this.#world.plan;
    if (promotion === undefined) return;
    if (this.isDone) {
      if (!this.#world.healed) this.#world.marks.add("promoted while callers worked");
      return;
    }
    const source = this.#world.peer(promotion.source);
    const unit = this.#world.choices.stream("promotion").next();
    this.#obstruct(source);
    const threshold = thresholdOf(peers);
    const rival = threshold === peers ? threshold - 1 : threshold + 1;
    // Of another threshold than the targets were initialized with, so that no rival can ever win.
    if (promotion.hasRivals && unit.chance("others ask first", 500)) this.#promote(source, rival, false);
    this.#promote(source, threshold, unit.chance("is tried only", 100));
    this.#world.marks.add("a promotion was asked for");
    this.#world.after(unit.between("asks again after", SECOND, SECOND / 10, 3 * SECOND), () => this.#ask());
  }

  /** Somebody else, who mostly may not or only tries, asks after a while. */
  #tryAgain(unit: Unit): void {
    const { promotion, peers } = this.#world.plan;
    const after = unit.between("asks after", USUAL_MICROS, LEAST_MICROS, MOST_MICROS);
    if (promotion === undefined || this.#others >= OTHERS) return;
    this.#world.after(after, () => {
      if (this.#world.healed) return;
      const who = otherPromoter(unit, ++this.#others, this.#world.realMillis);
      const source = this.#world.peer(promotion.source);
      this.#world.marks.add("somebody else asked for a promotion");
      this.#promote(source, thresholdOf(peers), unit.chance("is tried only", 500), who);
      this.#tryAgain(this.#world.choices.stream("other promoters").next());
    });
  }

  #promote(
    source: SimPeer,
    threshold: number,
    dryRun: boolean,
    who: Promoter = operatorAt(this.#world.realMillis),
  ): void {
    const { operators } = this.#world;
    operators.promote(source, { plan: this.plan(threshold), who, dryRun }, (rejection) => {
      this.#rebuild(rejection);
      if (rejection.code === "KEYS_NOT_PROMOTABLE") this.#clear(source);
    });
  }

  /** In some runs, while nothing is pinned: a key that no members can share. */
  #obstruct(source: SimPeer): void {
    const { choices, commands, healed, product } = this.#world;
    const unit = choices.stream("keys in the way").next();
    const isOpen = source.state?.cluster.promotion.own === undefined && product.composition.byKind.has("KEYGEN");
    if (!unit.chance("one is made", 300) || healed || !isOpen) return;
    this.#send(source, creation(commands, `alone-${++this.#obstacles}`, OBSTACLE));
  }

  /** Keys that no members can share are destroyed: some at once, the others when they are in the way again. */
  #clear(source: SimPeer): void {
    const { choices, commands, marks } = this.#world;
    marks.add("keys were in the way of a promotion");
    for (const { keyId, generation, scheme, status } of allRows(source.store, "custodyKeys")) {
      const unit = choices.stream("keys in the way").next();
      if (scheme === OBSTACLE.scheme && status === "ACTIVE" && !unit.chance("stays for now", 300))
        this.#send(source, ending(commands, { keyId, base: generation, generation, isFinal: true }));
    }
  }

  #send(source: SimPeer, asked: Asked): void {
    const { commands, realMillis, service } = this.#world;
    const token = commands.token("good", realMillis, TOKEN_MILLIS, asked.permission);
    service.request(source, service.newRequestId(), asked, token.text);
  }

  /** What operators ask for: all peers, of which so many sign. */
  plan(threshold: number): PromotionPlan {
    const { peers } = this.#world;
    const members = peers.map(({ peerId, keys }) => ({ peerId, identityKey: keys.identity.publicKey })).toReversed();
    return { members, threshold };
  }

  /** Targets that are bound to a promotion which their source has forgotten get empty machines, all of them at once. */
  #rebuild({ members = [] }: Rejection): void {
    if (!members.some(({ reason }) => reason.startsWith(BOUND))) return;
    const { peers, restores, marks } = this.#world;
    for (const peer of peers) {
      if (!peer.disk.holds("transfer", SELF) || peer.disk.holds("topology", SELF)) continue;
      restores.comeBackAlone(peer, () => peer.wipe());
      marks.add("a target was rebuilt");
    }
  }
}
