/**
 * What must come about with keys once everything is healed: all peers show the same ones, shares that went with older
 * disks are repaired (LK4), keys are made, renewed and destroyed (LK3), and every key signs through every peer (LK1), also
 * while as many members are down as may be, each in turn (LK2).
 */
import type { Answer } from "../../core/Action.ts";
import { Violation } from "../../sim/base/Violation.ts";
import { type Help, helpFrom } from "../../sim/checkers/KeyFacts.ts";
import type { KeyRequest } from "../../sim/requests/KeyRequests.ts";
import type { ChaosCluster } from "./ChaosCluster.ts";
import { keyIn, type ShownKey } from "./KeyAnswerText.ts";
import type { KeyCallers } from "./KeyCallers.ts";

/** On a machine with much else to do five peers together sign some keys in a second. */
const PATIENCE_MILLIS = 180_000;
const TRY_AGAIN_MILLIS = 250;

const pause = (millis: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, millis));

/** What became of keys in a run. */
export interface KeysLeft {
  /** Active ones that are usable. */
  readonly usable: number;
  /** Those of which more shares went with older disks than may. */
  readonly lost: number;
  readonly repaired: number;
}

/** The cluster and its callers, and a wait until nothing is under way. */
export interface KeysAtEndOptions {
  readonly cluster: Pick<ChaosCluster, "peers">;
  readonly keys: KeyCallers;
  readonly quiet: () => Promise<Violation | undefined>;
}

/**
 * By generation, as one peer shows them: those of a key that somebody keeps secrets of, and those that it does not show
 * just now.
 */
const keptAt = async (
  keys: Pick<KeyCallers, "read">,
  slot: number,
  { keyId, currentGeneration }: ShownKey,
): Promise<ReadonlyMap<number, ShownKey | undefined>> => {
  const kept = new Map<number, ShownKey | undefined>();
  for (let generation = 1; generation <= currentGeneration; generation += 1) {
    const shown = await keys.read(slot, keyId, generation);
    const state = shown?.generation.state;
    if (shown === undefined || state === "ACTIVE" || state === "HISTORICAL") kept.set(generation, shown);
  }
  return kept;
};

const isMissing = ({ health }: ShownKey): boolean => health === "SHARE_MISSING";

/**
 * The help for a peer that lacks its share of the generation that signs; undefined where fewer have it than sign. What
 * was whole there before a promotion and is lost nobody can give it.
 *
 * @param holders those that have the share that signs
 */
export const helpFor = async (
  keys: Pick<KeyCallers, "read">,
  slot: number,
  key: ShownKey,
  holders: ReadonlyArray<number>,
): Promise<Help | undefined> => {
  // What it does not show may be missing, and nobody knows whether it could be helped to.
  const missing = [...(await keptAt(keys, slot, key))].filter(([, shown]) => shown === undefined || isMissing(shown));
  const lacking = missing.flatMap(([generation, shown]) =>
    shown !== undefined && shown.total > 1 ? [generation] : [],
  );
  const others: Array<{ readonly slot: number; readonly generations: ReadonlySet<number> }> = [];
  for (const other of holders) {
    const kept = [...(await keptAt(keys, other, key))].filter(([, shown]) => shown !== undefined && !isMissing(shown));
    others.push({ slot: other, generations: new Set(kept.map(([generation]) => generation)) });
  }
  const help = helpFrom(others, lacking, key.threshold);
  return help && { ...help, isForAll: help.isForAll && lacking.length === missing.length };
};

/** What shares a key that is whole at one peer: nothing can be made of a secret that went with that one's disk. */
export const renewalOf = async (
  keys: Pick<KeyCallers, "read">,
  slots: ReadonlyArray<number>,
  keyId: string,
): Promise<"refresh" | "rotate"> => {
  for (const slot of slots) if ((await keys.read(slot, keyId))?.health === "SHARE_MISSING") return "rotate";
  return "refresh";
};

export class KeysAtEnd {
  readonly #options: KeysAtEndOptions;
  #number = 0;
  left: KeysLeft = { usable: 0, lost: 0, repaired: 0 };

  constructor(options: KeysAtEndOptions) {
    this.#options = options;
  }

  /** Why keys are not as they must be; undefined where they are. */
  async judge(): Promise<Violation | undefined> {
    const { cluster, keys, quiet } = this.#options;
    try {
      await Promise.all(this.#slots.map((slot) => this.#life(slot)));
      await this.#share();
      const usable = await this.#repairAll(await this.#same());
      for (const { slot } of cluster.peers) await this.#withoutSome(slot, usable);
      await keys.verifyRest();
      const [, unverified] = keys.signatures;
      if (unverified > 0)
        return new Violation("K14", "everything was healed", `${unverified} signatures are of no key`);
      return await quiet();
    } catch (thrown) {
      if (thrown instanceof Violation) return thrown;
      throw thrown;
    }
  }

  get #slots(): ReadonlyArray<number> {
    return this.#options.cluster.peers.map(({ slot }) => slot);
  }

  /** A key is made through one peer, signs through all, is renewed through the next, and loses an old generation. */
  async #life(slot: number): Promise<void> {
    const { keys } = this.#options;
    const keyId = `end-${slot}`;
    const next = this.#slots[slot % this.#slots.length] ?? slot;
    const made = await this.#insist("LK3", slot, keys.creation(keyId, slot), "KeyMade");
    const scheme = made?._tag === "KeyMade" ? made.key.scheme : "";
    await Promise.all(this.#slots.map((through) => this.#sign("LK1", through, { keyId, scheme })));
    await this.#insist("LK3", next, keys.renewal(keyId, 1, "refresh"), "KeyMade");
    await this.#insist("LK3", slot, keys.renewal(keyId, 2, "rotate"), "KeyMade");
    await this.#insist("LK3", next, keys.destruction({ keyId, generation: 3 }, 2), "KeyDestroyed");
    await Promise.all(this.#slots.map((through) => this.#sign("LK1", through, { keyId, scheme })));
  }

  async #sign(id: string, slot: number, key: { readonly keyId: string; readonly scheme: string }): Promise<void> {
    await this.#insist(id, slot, this.#options.keys.signing(key, (this.#number += 1)), "Signed");
  }

  /** @param isDone whether it has come about whatever the answer is */
  async #insist(
    id: string,
    slot: number,
    asked: KeyRequest,
    wanted: Answer["_tag"],
    isDone?: () => Promise<boolean>,
  ): Promise<Answer | undefined> {
    for (const until = performance.now() + PATIENCE_MILLIS; ; await pause(TRY_AGAIN_MILLIS)) {
      const answer = await this.#options.keys.ask(slot, asked);
      if (answer?._tag === wanted || (await isDone?.()) === true) return answer;
      if (performance.now() < until) continue;
      const told = answer?._tag === "Rejected" ? `${answer.rejection.code}: ${answer.rejection.detail}` : answer?._tag;
      throw new Violation(id, "everything was healed", `${asked.call.path} at peer ${slot} gave ${told ?? "nothing"}`);
    }
  }

  /** A refresh shares the keys that are whole at one peer since before a promotion, a rotation those that are lost. */
  async #share(): Promise<void> {
    const { keys } = this.#options;
    const [first = 1, second = first] = this.#slots;
    for (const text of (await keys.list(first)) ?? []) {
      const shown = keyIn(text);
      if (shown?.status !== "ACTIVE") continue;
      const answer = await keys.ask(second, keys.signing(shown, (this.#number += 1)));
      if (answer?._tag !== "Rejected" || answer.rejection.code !== "KEY_UNSHARED") continue;
      const act = await renewalOf(keys, this.#slots, shown.keyId);
      await this.#insist("LK1", second, keys.renewal(shown.keyId, shown.currentGeneration, act), "KeyMade");
    }
  }

  /** The keys that all peers show, to the byte but for what is a peer's own. */
  async #same(): Promise<ReadonlyArray<ShownKey>> {
    const { keys } = this.#options;
    let first: ReadonlyArray<string> | undefined;
    for (const slot of this.#slots) {
      const listed = await keys.list(slot);
      const shown = listed?.map((text) => text.replace(/"health":"[A-Z_]+"/, ""));
      if (listed === undefined || shown === undefined)
        throw new Violation("LK1", "everything was healed", `peer ${slot} does not list its keys`);
      first ??= shown;
      const differing = shown.findIndex((text, index) => text !== first?.[index]);
      if (differing !== -1 || shown.length !== first.length)
        throw new Violation("K6", `the first peer shows ${first[differing]}`, `peer ${slot} shows ${shown[differing]}`);
      if (slot === this.#slots.at(-1)) return listed.flatMap((text) => keyIn(text) ?? []);
    }
    return [];
  }

  /** Gives every peer the shares that it lacks; those of the keys that may be used again, or still. */
  async #repairAll(all: ReadonlyArray<ShownKey>): Promise<ReadonlyArray<ShownKey>> {
    const { keys } = this.#options;
    const usable: Array<ShownKey> = [];
    let repaired = 0;
    const active = all.filter(({ status }) => status === "ACTIVE");
    for (const key of active) {
      const { keyId, threshold } = key;
      const healths = await Promise.all(
        this.#slots.map(async (slot) => ({ slot, health: (await keys.read(slot, keyId))?.health })),
      );
      const holders = healths.flatMap(({ slot, health }) => (health === "OK" ? [slot] : []));
      if (holders.length < threshold) continue;
      for (const { slot, health } of healths) {
        if (health === "OK") continue;
        await this.#repair(slot, key, holders);
        repaired += 1;
      }
      usable.push(key);
    }
    this.left = { usable: usable.length, lost: active.length - usable.length, repaired };
    return usable;
  }

  /** Where something else stays lost, each answer is that; the share that signs is there nevertheless. */
  async #repair(slot: number, key: ShownKey, holders: ReadonlyArray<number>): Promise<void> {
    const { keys } = this.#options;
    const { keyId } = key;
    const help = await helpFor(keys, slot, key, holders);
    if (help === undefined) return;
    const isThere = async (): Promise<boolean> => (await keys.read(slot, keyId))?.health === "OK";
    const asked = keys.repairing(keyId, help.helpers);
    await this.#insist("LK4", slot, asked, "Repaired", help.isForAll ? undefined : isThere);
  }

  /** From one peer on as many are killed as need not sign: all others sign with every key. */
  async #withoutSome(first: number, usable: ReadonlyArray<ShownKey>): Promise<void> {
    const { cluster, quiet } = this.#options;
    const { length } = this.#slots;
    const threshold = usable[0]?.threshold ?? length;
    const away = cluster.peers.filter(({ slot }) => (slot - first + length) % length < length - threshold);
    await Promise.all(away.map((peer) => peer.kill()));
    const left = this.#slots.filter((slot) => !away.some((peer) => peer.slot === slot));
    for (const slot of left) await Promise.all(usable.map((key) => this.#sign("LK2", slot, key)));
    for (const peer of away) peer.start();
    const unrest = await quiet();
    if (unrest !== undefined) throw unrest;
  }
}
