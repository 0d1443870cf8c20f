/** Callers that read what there is of keys: what they may sign with, lists, single keys, what commands look like. */
import { absurd } from "effect";
import type { Unit } from "../base/Choices.ts";
import type { IdentitiesAsked, KeyReadAsked, KeysAsked } from "../oracle/KeyReads.ts";
import type { Grants } from "../requests/Grants.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";
import { keyIdOf, MOST_KEYS, MOST_OWNERS, ownerOf } from "./KeyHolders.ts";

const MOST_ON_A_PAGE = 5;
const MOST_GENERATIONS = 6;
/** What no owner is called. */
const TOO_LONG = "o".repeat(129);
const NO_OWNERS = ["Owner-1", "", "owner--1", "-owner-1", TOO_LONG] as const;
const NO_OWNERS_EVENLY = NO_OWNERS.map(() => 1);
/** Of each of some keys, in forms that a token may take. */
const forms = ["one", "all", "all but one", "all but one, said first", "none", "whatever is done"] as const;
const FORM_WEIGHTS = forms.map(() => 1);
const wishes = ["identities", "keys", "key", "authority"] as const;
const EVENLY: ReadonlyArray<number> = [1, 1, 1, 1];

const signs = (keyId: string): string => `service.key.${keyId}.sign`;

const grantsOf = (form: (typeof forms)[number], keyId: string): Grants => {
  switch (form) {
    case "one":
      return [signs(keyId)];
    case "all":
      return [signs("key-*")];
    case "all but one":
      return [signs("*"), `-${signs(keyId)}`];
    case "all but one, said first":
      return [`-${signs(keyId)}`, signs("*")];
    case "none":
      return [`service.key.${keyId}.rotate`, signs(`${keyId}-*`)];
    case "whatever is done":
      return [`service.key.${keyId}.*`];
    default:
      return absurd(form);
  }
};

const otherThan = ({ filter }: KeysAsked): KeysAsked["filter"] => ({
  ...filter,
  status: filter.status === "ACTIVE" ? "DESTROYED" : "ACTIVE",
});

export class KeyInquiries {
  readonly #world: World;
  #asked = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** Asks some peer, at times: each time draws by itself, and leaves what else callers draw as it is. */
  ask(): void {
    const { choices, plan } = this.#world;
    const unit = choices.stream(`reads of keys ${this.#asked++}`).next();
    if (!unit.chance("reads something of keys", 300)) return;
    const peer = this.#world.peer(unit.between("at peer", 1, 1, plan.peers));
    const wish = unit.named("wish", "identities", wishes, EVENLY);
    if (wish === "identities") return this.#walk(peer, this.#identities(unit));
    if (wish === "keys") return this.#list(peer, this.#keys(unit));
    const answer = this.#world.lookups.keys.ask(peer, wish === "key" ? this.#key(unit) : this.#authority(unit));
    if (answer !== undefined) this.#world.marks.add(`${wish}: ${answer._tag === "Refused" ? answer.code : "shown"}`);
  }

  /** All pages, one after the other, at one moment. */
  #walk(peer: SimPeer, first: IdentitiesAsked): void {
    for (let asked = first, pages = 0; pages <= 2 * MOST_KEYS; pages++) {
      const next = this.#page(peer, asked, pages === 0)?.next;
      if (next === undefined) return;
      asked = { ...asked, after: next };
    }
  }

  /** The same of a list, whose next page any peer can give, for the same filter alone. */
  #list(peer: SimPeer, first: KeysAsked): void {
    const { choices, plan } = this.#world;
    for (let asked = first, through = peer, pages = 0; pages <= 2 * MOST_KEYS; pages++) {
      const cursor = this.#page(through, asked, pages === 0)?.cursor;
      if (cursor === undefined) return;
      const unit = choices.stream(`pages of keys ${this.#asked} ${pages}`).next();
      through = this.#world.peer(unit.between("next at peer", peer.slot, 1, plan.peers));
      asked = { ...asked, cursor };
      if (unit.chance("with another filter", 150)) this.#page(through, { ...asked, filter: otherThan(first) }, false);
      if (unit.chance("bent", 100)) this.#page(through, { ...asked, cursor: `${cursor.slice(0, -1)}_` }, false);
    }
  }

  #page(peer: SimPeer, asked: IdentitiesAsked | KeysAsked, isFirst: boolean) {
    const answer = this.#world.lookups.keys.ask(peer, asked);
    const name = asked._tag.toLowerCase();
    if (answer?._tag === "Refused") this.#world.marks.add(`${name}: ${answer.code}`);
    if (answer?._tag === "QueryRefused") this.#world.marks.add(`${name}: the query was refused`);
    if (answer?._tag !== "Page") return undefined;
    this.#world.marks.add(isFirst ? `${name}: a page` : `${name}: another page`);
    return answer;
  }

  #keyId(unit: Unit): string {
    return keyIdOf(unit.between("of key", 1, 1, MOST_KEYS));
  }

  #grants(unit: Unit): Grants | undefined {
    const keyId = this.#keyId(unit);
    if (unit.chance("nobody is known", 60)) return undefined;
    return grantsOf(unit.named("may sign with", "all", forms, FORM_WEIGHTS), keyId);
  }

  #limit(unit: Unit): number {
    return unit.between("on a page", MOST_ON_A_PAGE, 1, MOST_ON_A_PAGE);
  }

  #identities(unit: Unit): IdentitiesAsked {
    return { _tag: "Identities", grants: this.#grants(unit), after: "", limit: this.#limit(unit) };
  }

  #keys(unit: Unit): KeysAsked {
    const status = unit.named("status", "any", ["any", "ACTIVE", "DESTROYED"] as const, [2, 1, 1]);
    const owner = unit.between("of owner", 0, 0, MOST_OWNERS);
    const limit = this.#limit(unit);
    const wanted = status === "any" ? undefined : status;
    if (unit.chance("of no owner", 80)) {
      const assetOwner = unit.named("names", "Owner-1", NO_OWNERS, NO_OWNERS_EVENLY);
      return { _tag: "Keys", isBroken: true, filter: { assetOwner, status: wanted }, cursor: undefined, limit };
    }
    return { _tag: "Keys", filter: { assetOwner: ownerOf(owner), status: wanted }, cursor: undefined, limit };
  }

  #key(unit: Unit): KeyReadAsked {
    const number = unit.between("generation", 0, 0, MOST_GENERATIONS);
    return { _tag: "Key", keyId: this.#keyId(unit), generation: number === 0 ? undefined : number };
  }

  #authority(unit: Unit): KeyReadAsked {
    const authorityId = unit.chance("another authority", 200) ? "custom" : "arbitrary";
    return { _tag: "Authority", grants: this.#grants(unit), keyId: this.#keyId(unit), authorityId };
  }
}
