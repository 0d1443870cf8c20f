/** Callers that have keys made, renewed and destroyed, and sign with them: rightly, wrongly, twice, with old ones. */
import { Encoding } from "effect";
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import type { Unit } from "../base/Choices.ts";
import type { Asked } from "../requests/Asked.ts";
import { atKeyEdge, keyEdgeNames } from "../requests/KeyEdges.ts";
import {
  creation,
  ending,
  hashes,
  type KeyMaking,
  type KeyRequest,
  renewal,
  repairing,
  signing,
  type Signing,
} from "../requests/KeyRequests.ts";
import type { Success } from "../requests/Success.ts";
import type { World } from "../world/World.ts";

/** A key as its callers know it. */
interface Known {
  readonly keyId: string;
  readonly algorithm: string;
  readonly scheme: string;
  generation: number;
  publicKey: string;
  isDestroyed: boolean;
}

/** Keys that a run makes, so that callers come back to each of them. */
export const MOST_KEYS = 12;
export const keyIdOf = (number: number): string => `key-${number}`;
/** Requests that may be sent again. */
const SENT = 32;
export const MOST_OWNERS = 3;
/** The owner of that number; of none for 0. */
export const ownerOf = (number: number): string | undefined => (number === 0 ? undefined : `owner-${number}`);
const MOST_DATA = 48;
const DIGEST_BYTES = 32;
/** The id of no key. */
const NOBODYS = "nobody";
/** The id under which somebody would register a key of the service's own. */
const THIEF = "thief";

const deeds = [
  "sign",
  "create",
  "rotate",
  "refresh",
  "destroy",
  "end",
  "repair",
  "again",
  "sign with an unknown key",
] as const;
/** What else they ask for than key generations. */
const KINDS: Readonly<Record<string, string>> = {
  sign: "SIGN",
  "sign with an unknown key": "SIGN",
  destroy: "DESTROY",
  end: "DESTROY",
  repair: "REPAIR",
};
const WEIGHTS = [50, 14, 10, 10, 8, 2, 3, 10, 2];

const suites = ["ED25519/EdDSA", "SECP256K1/BIP340", "P256/ECDSA", "ED25519", "ED25519/BIP340"] as const;
const SUITE_WEIGHTS = [10, 6, 2, 4, 1];

/** A real x coordinate has 32 bytes, and stands for the point with the even y (BIP 340), which approvers write out. */
const pointOf = ({ algorithm, publicKey }: Pick<Known, "algorithm" | "publicKey">): Uint8Array => {
  const bytes = hexBytes(publicKey);
  return algorithm === "SECP256K1" && bytes.length === 32 ? Uint8Array.of(2, ...bytes) : bytes;
};

export class KeyHolders {
  readonly #world: World;
  readonly #known: Array<Known> = [];
  readonly #sent: Array<KeyRequest> = [];
  #kept = 0;
  readonly #weights: ReadonlyArray<number>;
  #nextKey = 1;

  constructor(world: World) {
    this.#world = world;
    const { byKind, services } = world.product.composition;
    const isThere = (kind: string): boolean => byKind.has(kind) || services.some((each) => each.kind === kind);
    this.#weights = deeds.map((deed, at) => (isThere(KINDS[deed] ?? "KEYGEN") ? (WEIGHTS[at] ?? 0) : 0));
  }

  /** A caller was told of a key. */
  told(answer: Success): void {
    if (answer._tag !== "KeyMade" && answer._tag !== "KeyDestroyed") return;
    const { keyId, algorithm, scheme, generation, status } = answer.key;
    const known = this.#known.find((each) => each.keyId === keyId);
    const isDestroyed = status === "DESTROYED";
    const { publicKey } = answer.generation;
    if (known === undefined) this.#known.push({ keyId, algorithm, scheme, generation, publicKey, isDestroyed });
    else if (generation >= known.generation) {
      known.generation = generation;
      known.isDestroyed ||= isDestroyed;
      if (answer._tag === "KeyMade") known.publicKey = publicKey;
    }
  }

  /** One of the things that callers do with keys. */
  draw(unit: Unit): Asked {
    const asked = this.#drawn(unit);
    if (asked.edge !== undefined || !unit.chance("at an edge", 120)) return this.#keep(asked);
    const name = unit.named(
      "key edge",
      keyEdgeNames[0] ?? "",
      keyEdgeNames,
      keyEdgeNames.map(() => 1),
    );
    return atKeyEdge(this.#world.commands, asked, name) ?? this.#keep(asked);
  }

  /** Another request about the same key, at the same time; undefined for most. */
  rival(unit: Unit, asked: Asked): Asked | undefined {
    if (!("keyId" in asked) || !unit.chance("races", 150)) return undefined;
    const known = this.#known.find(({ keyId }) => keyId === asked.keyId);
    return known === undefined ? asked : this.#renewal(unit, known, unit.chance("rotates", 500) ? "rotate" : "refresh");
  }

  /** The registration of a key of the service's own as somebody's; undefined where there is none, and mostly. */
  theft(unit: Unit): Asked | undefined {
    if (!unit.chance("registers a custody key", 30)) return undefined;
    const known = this.#any(unit);
    if (known === undefined) return undefined;
    const publicKey64 = Encoding.encodeBase64(pointOf(known));
    return this.#world.commands.theft(THIEF, known.algorithm, publicKey64);
  }

  #keep(asked: KeyRequest): KeyRequest {
    this.#sent[this.#kept++ % SENT] = asked;
    return asked;
  }

  #any(unit: Unit): Known | undefined {
    const { length } = this.#known;
    return length === 0 ? undefined : this.#known[unit.between("key", 0, 0, length - 1, 0, MOST_KEYS - 1)];
  }

  #drawn(unit: Unit): KeyRequest {
    const deed = unit.named("with a key", "sign", deeds, this.#weights);
    const { commands } = this.#world;
    if (deed === "again") {
      const sent = this.#sent[unit.between("request", 0, 0, this.#sent.length - 1, 0, SENT - 1)];
      if (sent !== undefined) return sent;
    }
    if (deed === "sign with an unknown key")
      return signing(commands, {
        keyId: NOBODYS,
        scheme: "EdDSA",
        hash: undefined,
        data: new Uint8Array(1),
        generation: undefined,
      });
    const known = this.#any(unit);
    if (known === undefined || deed === "create") return this.#creation(unit);
    if (deed === "rotate" || deed === "refresh") return this.#renewal(unit, known, deed);
    if (deed === "destroy" || deed === "end") return this.#ending(unit, known, deed === "end");
    return deed === "repair" ? this.#repairing(unit, known) : this.#signing(unit, known);
  }

  #owner(unit: Unit): string | undefined {
    return ownerOf(unit.between("owner", 0, 0, MOST_OWNERS));
  }

  /** Of an id that nobody has, or of one that there is: the same again, or as another key. */
  #creation(unit: Unit): KeyMaking {
    const number = this.#nextKey > MOST_KEYS ? unit.between("of key", 1, 1, MOST_KEYS) : this.#nextKey++;
    const { commands, plan } = this.#world;
    const drawn = unit.named("suite", suites[0], suites, SUITE_WEIGHTS);
    // What no members share would keep the instance from ever being promoted.
    const suite = plan.promotion !== undefined && drawn.endsWith("ECDSA") ? suites[0] : drawn;
    const [algorithm = "", scheme] = suite.split("/");
    const asked = creation(commands, keyIdOf(number), { algorithm, scheme, assetOwner: this.#owner(unit) });
    // No key of this algorithm signs so.
    if (scheme === "BIP340" && algorithm === "ED25519")
      return { ...asked, edge: { rule: "2.8 algorithm", how: "another's scheme", refusedAs: "INVALID_REQUEST_BODY" } };
    const isAlone = this.#world.plan.peers === 1;
    if (scheme === "ECDSA" && !isAlone)
      return { ...asked, edge: { rule: "2.8 shares", how: "no shares sign so", refusedAs: "SCHEME_NOT_THRESHOLD" } };
    return asked;
  }

  /** Upon the generation last heard of, or another one. */
  #base(unit: Unit, { generation }: Known): number {
    const shift = unit.named("base", "that", ["that", "before", "after"] as const, [10, 1, 1]);
    return Math.max(1, shift === "that" ? generation : shift === "before" ? generation - 1 : generation + 1);
  }

  #renewal(unit: Unit, known: Known, act: "rotate" | "refresh"): KeyMaking {
    const { keyId } = known;
    const base = this.#base(unit, known);
    return renewal(
      this.#world.commands,
      act,
      { keyId, base, assetOwner: this.#owner(unit) },
      unit.chance("may with all keys", 500),
    );
  }

  #ending(unit: Unit, known: Known, isFinal: boolean): KeyRequest {
    const base = this.#base(unit, known);
    const quiet = isFinal ? known.generation : Math.max(1, known.generation - 1);
    const generation = unit.chance("another generation", 200)
      ? unit.between("generation", 1, 1, known.generation + 1, 1, 9)
      : quiet;
    const asked = ending(this.#world.commands, { keyId: known.keyId, base, generation, isFinal });
    if (!isFinal || generation === base) return asked;
    return {
      ...asked,
      edge: { rule: "10.7 destruction", how: "not the active one", refusedAs: "INVALID_REQUEST_BODY" },
    };
  }

  #repairing(unit: Unit, { keyId }: Known): KeyRequest {
    const { peers } = this.#world.plan;
    const first = unit.between("first helper", 1, 1, peers);
    const count = unit.between("helpers", Math.floor(peers / 2) + 1, 1, peers, 1, 5);
    const helpers = Array.from({ length: count }, (_, at) => ((first - 1 + at) % peers) + 1);
    const isOfNone = unit.chance("of a key that nobody has", 100);
    // Whoever is no member cannot help either.
    const named = unit.chance("names a stranger", 100) ? [...helpers.slice(1), peers + 1] : helpers;
    return repairing(this.#world.commands, { keyId: isOfNone ? NOBODYS : keyId, helpers: named });
  }

  #signing(unit: Unit, known: Known): Signing {
    const { keyId } = known;
    const isOld = unit.chance("with a certain generation", 150);
    const generation = isOld ? unit.between("generation", 1, 1, known.generation, 1, 9) : undefined;
    const isDigest = known.scheme !== "EdDSA";
    const hash = unit.named("hash", "NONE", hashes, isDigest ? [3, 1, 0, 1] : [3, 1, 1, 1]);
    const length = isDigest && hash === "NONE" ? DIGEST_BYTES : unit.between("bytes", 8, 0, MOST_DATA);
    const text = `pay ${unit.between("amount", 1, 1, 99)} `.padEnd(length, "x");
    const data = utf8Bytes(text.slice(0, length));
    const scheme = unit.chance("another scheme", 20) ? "OTHER" : known.scheme;
    const { commands } = this.#world;
    const written = unit.chance("leaves the hash out", 300) && hash === "NONE" ? undefined : hash;
    const asked = signing(commands, { keyId, scheme, hash: written, data, generation });
    return scheme === known.scheme
      ? asked
      : { ...asked, edge: { rule: "2.8 command", how: "another scheme", refusedAs: "INVALID_COMMAND" } };
  }
}

const hexBytes = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, at) => Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16));
