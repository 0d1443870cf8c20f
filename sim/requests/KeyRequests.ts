/** Requests about keys, as their callers mean them: to make one, or new shares of one, to end one, and to use one. */
import { Encoding } from "effect";
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import type { Asked, Meant, Permission } from "./Asked.ts";
import type { Commands } from "./Commands.ts";
import { KEYS_PATH } from "./Paths.ts";

export type KeygenAct = "create" | "rotate" | "refresh";

/** A key to be made, or a new generation of one. */
export interface KeyMaking extends Asked {
  readonly kind: "KEYGEN";
  readonly act: KeygenAct;
  readonly keyId: string;
  /** Of a creation alone. */
  readonly algorithm: string | undefined;
  readonly scheme: string | undefined;
  /** The generation that it builds on; 0 for a creation. */
  readonly base: number;
  readonly assetOwner: string | undefined;
}

export interface KeyEnding extends Asked {
  readonly kind: "DESTROY";
  readonly keyId: string;
  readonly base: number;
  readonly generation: number;
  readonly isFinal: boolean;
}

export const hashes = ["NONE", "SHA256", "SHA512", "KECCAK256"] as const;
export type Hash = (typeof hashes)[number];

export interface Signing extends Asked {
  readonly kind: "SIGN";
  readonly keyId: string;
  readonly scheme: string;
  readonly hash: Hash | undefined;
  readonly data: Uint8Array;
  /** Undefined where it is the active one that is meant. */
  readonly generation: number | undefined;
}

export interface Repairing extends Asked {
  readonly kind: "REPAIR";
  readonly keyId: string;
  readonly helpers: ReadonlyArray<number>;
}

export type KeyRequest = KeyMaking | KeyEnding | Signing | Repairing;

export const isKeyMaking = (asked: Meant): asked is KeyMaking => asked.kind === "KEYGEN";
export const isKeyEnding = (asked: Meant): asked is KeyEnding => asked.kind === "DESTROY";
export const isSigning = (asked: Meant): asked is Signing => asked.kind === "SIGN";
export const isRepairing = (asked: Meant): asked is Repairing => asked.kind === "REPAIR";
/** One that the bearer needs, and the same for another key, which is not enough. */
const ofKey = (keyId: string, act: string): Permission => ({
  needed: `service.key.${keyId}.${act}`,
  other: `service.key.${keyId}-too.${act}`,
  isNeeded: true,
});

const ofAll = (act: string): Permission => ({
  needed: `service.dkg.${act}`,
  other: "service.approvers.register",
  isNeeded: true,
});

const posted = (path: string, body: object): Asked["call"] => ({
  method: "POST",
  path,
  ifMatch: undefined,
  rawBody: utf8Bytes(JSON.stringify(body)),
});

const ARBITRARY = [{ id: "arbitrary" }];

export const creation = (
  commands: Commands,
  keyId: string,
  { algorithm, scheme, assetOwner }: Pick<KeyMaking, "algorithm" | "scheme" | "assetOwner">,
): KeyMaking =>
  commands.said({
    kind: "KEYGEN",
    act: "create",
    keyId,
    algorithm,
    scheme,
    base: 0,
    assetOwner,
    permission: ofAll("create"),
    call: posted(KEYS_PATH, { keyId, algorithm, scheme, authorities: ARBITRARY, assetOwner }),
  });

/** @param isOfAll whether its bearer may do so with every key, or with this one */
export const renewal = (
  commands: Commands,
  act: "rotate" | "refresh",
  { keyId, base, assetOwner }: Pick<KeyMaking, "keyId" | "base" | "assetOwner">,
  isOfAll = true,
): KeyMaking =>
  commands.said({
    kind: "KEYGEN",
    act,
    keyId,
    algorithm: undefined,
    scheme: undefined,
    base,
    assetOwner,
    permission: isOfAll ? ofAll(act) : ofKey(keyId, act),
    call: posted(`${KEYS_PATH}/${keyId}/${act}`, { baseGeneration: base, assetOwner }),
  });

export const ending = (
  commands: Commands,
  { keyId, base, generation, isFinal }: Pick<KeyEnding, "keyId" | "base" | "generation" | "isFinal">,
): KeyEnding =>
  commands.said({
    kind: "DESTROY",
    keyId,
    base,
    generation,
    isFinal,
    permission: ofKey(keyId, "destroy"),
    call: posted(`${KEYS_PATH}/${keyId}/destroy`, {
      baseGeneration: base,
      generation,
      ...(isFinal ? { final: true } : {}),
    }),
  });

export const signing = (
  commands: Commands,
  { keyId, scheme, hash, data, generation }: Pick<Signing, "keyId" | "scheme" | "hash" | "data" | "generation">,
): Signing =>
  commands.said({
    kind: "SIGN",
    keyId,
    scheme,
    hash,
    data,
    generation,
    permission: ofKey(keyId, "sign"),
    call: posted(`${KEYS_PATH}/${keyId}/sign`, {
      command: {
        type: "arbitrary",
        authorityId: "arbitrary",
        artifact: { scheme, hash, data64: Encoding.encodeBase64(data) },
      },
      generation,
    }),
  });

export const repairing = (commands: Commands, { keyId, helpers }: Pick<Repairing, "keyId" | "helpers">): Repairing =>
  commands.said({
    kind: "REPAIR",
    keyId,
    helpers,
    permission: { needed: "service.recover", other: "service.dkg.create", isNeeded: true },
    call: posted(`${KEYS_PATH}/${keyId}/repair`, { helpers }),
  });
