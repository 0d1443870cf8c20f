/** The naive registry of keys: which generations each member has of which key, by what it made durable. */
import { allRows } from "../../../core/protocol/AllRows.ts";
import type { Proposal } from "../../../core/protocol/Proposal.ts";
import type { Rows, RowView, Write } from "../../../core/Tables.ts";
import type { Basis, NaiveRegistry } from "../NaiveRegistry.ts";
import { OneToOne } from "../OneToOne.ts";
import { isKeyEnding, isKeyMaking, type KeyEnding, type KeyMaking } from "../../requests/KeyRequests.ts";
import { endingIn, makingIn } from "./KeyEffects.ts";

type Key = Rows["custodyKeys"];
type Generation = Rows["generations"];

/** The scheme of an algorithm whose caller names none. */
const USUAL: Readonly<Record<string, string>> = { ED25519: "EdDSA", SECP256K1: "BIP340", P256: "ECDSA" };

const MADE_BY = { create: "CREATE", rotate: "ROTATE", refresh: "REFRESH" } as const;

interface Held {
  readonly key: Key;
  /** The newest one. */
  readonly publicKey: string;
  readonly authorities: ReadonlyArray<string>;
}

const isMaking = ({ kind }: Pick<Proposal, "kind">): boolean => kind === "KEYGEN";
const keyIdIn = (proposal: Proposal): string =>
  isMaking(proposal) ? makingIn(proposal).key.keyId : endingIn(proposal).key.keyId;

/** Whether the key is what its caller asked for, as far as the request tells. */
const makingFault = (asked: KeyMaking, key: Key, generation: Generation): string | undefined => {
  const { keyId, algorithm, scheme, act, base, assetOwner } = asked;
  if (key.keyId !== keyId || generation.keyId !== keyId) return "it is another key than the caller named";
  if (generation.madeBy !== MADE_BY[act]) return `it was made by ${generation.madeBy}`;
  if (key.generation !== base + 1 || generation.generation !== base + 1) return `it does not follow generation ${base}`;
  if (algorithm !== undefined && (key.algorithm !== algorithm || key.scheme !== (scheme ?? USUAL[algorithm])))
    return `it is of ${key.algorithm} and ${key.scheme}`;
  if (assetOwner !== undefined && key.assetOwner !== assetOwner) return "it has another owner";
  if (generation.authorities.join() !== "arbitrary") return "it has other authorities";
  return key.status === "ACTIVE" && generation.state === "ACTIVE" ? undefined : "it is not active";
};

/** Why a key is not the next one of what a member has. */
const successorFault = (
  before: Held | undefined,
  { proposedAt }: Proposal,
  key: Key,
  madeBy: string,
  publicKey: string,
): string | undefined => {
  if (madeBy === "CREATE") {
    if (before !== undefined) return "this member has the key already";
    return key.createdAt === proposedAt && key.updatedAt === proposedAt && key.revision === 1
      ? undefined
      : "its times or its revision are not those of a new key";
  }
  if (before === undefined) return "this member does not have the key";
  if (before.key.status !== "ACTIVE") return "the key is destroyed here";
  if (before.key.generation !== key.generation - 1) return `its generation here is ${before.key.generation}`;
  return (
    keptFault(before.key, key, proposedAt) ??
    ((before.publicKey === publicKey) === (madeBy === "REFRESH") ? undefined : "a refresh alone keeps the public key")
  );
};

const keptFault = (before: Key, now: Key, proposedAt: number): string | undefined => {
  for (const field of ["algorithm", "scheme", "createdAt"] as const)
    if (before[field] !== now[field]) return `it changes ${field}`;
  if (now.revision !== before.revision + 1) return `its revision here is ${before.revision}`;
  return now.updatedAt === Math.max(proposedAt, before.updatedAt) ? undefined : "it was updated at another time";
};

/** Rows are named by key and padded number. */
const nameOfRow = (key: string): string => {
  const at = key.lastIndexOf("/");
  return `${key.slice(0, at)} ${Number(key.slice(at + 1))}`;
};

class KeyRegistry implements NaiveRegistry {
  readonly #basis: Basis;
  readonly #members: ReadonlyArray<Map<string, Held>>;
  /** By slot: the transcripts of what each member has made and keeps, by key and generation as rows name them. */
  readonly #pending: ReadonlyArray<Map<string, string>>;
  readonly #identities = new OneToOne();

  constructor(basis: Basis) {
    this.#basis = basis;
    this.#members = Array.from({ length: basis.total + 1 }, () => new Map<string, Held>());
    this.#pending = Array.from({ length: basis.total + 1 }, () => new Map<string, string>());
  }

  readonly restored = (slot: number, view: RowView): void => {
    const member = this.#members[slot];
    member?.clear();
    const pending = this.#pending[slot];
    pending?.clear();
    for (const { keyId, generation, transcript } of allRows(view, "pending"))
      pending?.set(`${keyId} ${generation}`, transcript);
    const generations = new Map(
      allRows(view, "generations").map((row) => [`${row.keyId} ${row.generation}`, row] as const),
    );
    for (const key of allRows(view, "custodyKeys")) {
      const { publicKey = "", authorities = [] } = generations.get(`${key.keyId} ${key.generation}`) ?? {};
      member?.set(key.keyId, { key, publicKey, authorities });
    }
  };

  readonly noted = (slot: number, write: Write): void => {
    if (write.table === "pending") {
      if (write.op === "remove") this.#pending[slot]?.delete(nameOfRow(write.key));
      else this.#pending[slot]?.set(nameOfRow(write.key), write.row.transcript);
    }
    if (write.table !== "certificates" || write.op === "remove") return;
    const { proposal } = write.row;
    const member = this.#members[slot];
    if (isMaking(proposal)) {
      const { key, generation } = makingIn(proposal);
      const { publicKey, authorities } = generation;
      member?.set(key.keyId, { key, publicKey, authorities });
    } else if (proposal.kind === "DESTROY") {
      const { key } = endingIn(proposal);
      const { publicKey = "", authorities = [] } = member?.get(key.keyId) ?? {};
      member?.set(key.keyId, { key, publicKey, authorities });
    }
  };

  readonly contentFault = (proposal: Proposal): string | undefined => {
    const asked = this.#basis.said.byRequest?.(proposal.kind, proposal.request);
    if (asked === undefined || proposal.request.method !== "POST") return "no caller ever sent such a request";
    if (asked.edge?.refusedAs !== undefined) return `it deserves ${asked.edge.refusedAs}`;
    if (isKeyEnding(asked)) return this.#endingFault(asked, proposal);
    if (!isKeyMaking(asked)) return "it is another request";
    const { key, generation, keyIdentity } = makingIn(proposal);
    const fault = makingFault(asked, key, generation);
    if (fault !== undefined) return fault;
    const meant = `${key.algorithm} ${generation.publicKey}`;
    return this.#identities.fits(keyIdentity, meant) ? undefined : "its key has another identity";
  };

  #endingFault({ keyId, base, generation, isFinal }: KeyEnding, proposal: Proposal): string | undefined {
    const ended = endingIn(proposal);
    if (ended.key.keyId !== keyId) return "it is another key than the caller named";
    if (ended.key.generation !== base) return `it does not build on generation ${base}`;
    if ((ended.key.status === "DESTROYED") !== isFinal) return "it ends more or less than the caller asked for";
    return ended.generation.generation === generation ? undefined : "it destroys another generation";
  }

  readonly memberFault = (slot: number, proposal: Proposal): string | undefined => {
    const member = this.#members[slot];
    if (isMaking(proposal)) {
      const { key, generation } = makingIn(proposal);
      if (this.#pending[slot]?.get(`${key.keyId} ${key.generation}`) !== generation.transcript)
        return "this member has made nothing of the kind";
      return successorFault(member?.get(key.keyId), proposal, key, generation.madeBy, generation.publicKey);
    }
    const { key } = endingIn(proposal);
    const before = member?.get(key.keyId);
    if (before === undefined) return "this member does not have the key";
    if (before.key.status !== "ACTIVE") return "the key is destroyed here";
    if (before.key.generation !== key.generation) return `its generation here is ${before.key.generation}`;
    return keptFault(before.key, key, proposal.proposedAt);
  };

  readonly excludes = (proposal: Proposal) => {
    const keyId = keyIdIn(proposal);
    return (reserved: Proposal): boolean => keyIdIn(reserved) === keyId;
  };
}

export const keyRegistry = (basis: Basis): NaiveRegistry => new KeyRegistry(basis);
