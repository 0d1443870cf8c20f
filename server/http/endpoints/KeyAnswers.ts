/** What is answered about keys and identities, as KeyJson.ts writes it (contract 2.8). */
import {
  described,
  integer,
  list,
  named,
  nullable,
  object,
  optional,
  type Shape,
  text,
  truth,
  word,
} from "../../../core/codec/Shape.ts";
import { ARBITRARY, keyIdShape } from "../../../core/commands/keys/KeyId.ts";
import { generationStates, keyStatuses, makings } from "../../../core/commands/keys/KeyRecord.ts";
import { Limits } from "../../../core/base/Limits.ts";

const NO_RULE = "";
const unixMillis = described("Unix milliseconds.", integer(0));
const base64 = text({ pattern: /^[A-Za-z0-9+/]*={0,2}$/ });
const digest = text({ pattern: /^sha256:[0-9a-f]{64}$/ });
const number = integer(1, Limits.generations);

const publicKeys = {
  publicKey64: described(
    "As verifiers know it: the RFC 8032 or FIPS 204 bytes, a compressed point, or the x coordinate of BIP 340.",
    base64,
  ),
  spki64: optional(described("As a DER SubjectPublicKeyInfo, where there is one for it.", base64)),
};

const health = described(
  "This peer's own: `SHARE_MISSING` where it cannot sign with it until it is repaired.",
  word(["OK", "SHARE_MISSING"], NO_RULE),
);

const generationShape = named(
  "Generation",
  object({
    generation: number,
    state: described(
      "`HISTORICAL` before a rotation, `SUPERSEDED` before a refresh, its shares erased.",
      word(generationStates, NO_RULE),
    ),
    madeBy: word(makings, NO_RULE),
    ...publicKeys,
    authorities: list(object({ id: text() })),
    record: described("The digest of what is agreed about it.", digest),
    transcript: described("The digest of all that was said while it was made.", digest),
    createdAt: unixMillis,
    destroyedAt: optional(unixMillis),
  }),
);

export const keyShape = named(
  "Key",
  object({
    keyId: keyIdShape,
    status: word(keyStatuses, NO_RULE),
    algorithm: text(),
    scheme: text(),
    currentGeneration: number,
    assetOwner: optional(text()),
    createdAt: unixMillis,
    updatedAt: unixMillis,
    threshold: described("So many members sign.", integer(1)),
    total: described("So many have a share.", integer(1)),
    health,
    generation: generationShape,
  }),
);

export const keyPageShape = named(
  "KeyPage",
  object({
    items: described("Sorted by id.", list(keyShape)),
    nextCursor: described("Of the next page with the same filters; null on the last.", nullable(text())),
  }),
);

export const publicKeyShape = named(
  "PublicKey",
  object({ keyId: keyIdShape, algorithm: text(), scheme: text(), generation: number, ...publicKeys }),
);

export const signatureShape = named(
  "Signature",
  object({
    type: word([ARBITRARY], NO_RULE),
    signature64: described("Of ECDSA `r` and `s`, each of 32 bytes.", base64),
    generation: number,
    imposters: described("Members whose part of it was wrong.", list(integer(1))),
    operationId: described("The digest of the operation, hexadecimal.", text({ pattern: /^[0-9a-f]{64}$/ })),
  }),
);

export const verdictShape = named("Verdict", object({ valid: truth }));

export const repairedShape = named(
  "Repaired",
  object({ generations: described("Whose shares this peer has again.", list(number)) }),
);

const identityShape = named(
  "Identity",
  object({ keyId: keyIdShape, algorithm: text(), generation: number, authorities: list(text()) }),
);

export const identityPageShape = named(
  "IdentityPage",
  object({
    items: list(identityShape),
    nextCursor: described("For `lastSeen` of the next page; null on the last.", nullable(text())),
  }),
);

const anySchema: Shape<unknown> = {
  schema: { type: "object", description: "JSON Schema of the whole command: type, authorityId, artifact." },
  read: (value) => value,
};

export const authorityShape = named(
  "Authority",
  object({
    id: text(),
    type: text(),
    version: nullable(text()),
    description: nullable(text()),
    commandSchema: anySchema,
  }),
);
