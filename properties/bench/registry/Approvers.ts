/** The approvers of a measured registry: the same for every peer and every run, as a company of any size would have them. */
import { createHash } from "node:crypto";
import { approverRef } from "../../../core/credential/ApproverRef.ts";
import { keyIdentityOf } from "../../../core/credential/KeyIdentity.ts";
import { descriptorJson, refDigest } from "../../../core/credential/SignatureCredential.ts";
import type { Metadata } from "../../../core/credential/Metadata.ts";
import type { Approver } from "../../../core/commands/approvers/Approver.ts";
import type { Crypto } from "../../../core/crypto/Crypto.ts";

const FIRST_MILLIS = Date.UTC(2026, 0, 1);
const ALGORITHM = "ED25519";
/** Values of metadata; those of regions and purposes are independent of each other. */
export const REGIONS = ["ap-south", "eu-central", "eu-west", "us-east", "us-west"];
export const PURPOSES = ["backup", "login", "payments", "release"];
const TEAMS = 20;
/** A team and a purpose that many approvers have, and no approver both. */
export const APART = { team: "team-0", purpose: "release" } as const;
/** Approvers of one owner, however large the registry is. */
const OWNED = 20;

/** A number below `below` that looks random and follows from the approver's number. */
const drawn = (bytes: Buffer, at: number, below: number): number => bytes.readUInt32BE(at) % below;

/** Numbers are registered out of order, as refs are; neighbours stay near each other on the disk. */
const BLOCK = 4096;
const STRIDE = 2731;
/** The number that is registered at this place; of the last numbers, in part of a block, each at its own. */
export const placed = (place: number, count: number): number => {
  const from = place - (place % BLOCK);
  return from + BLOCK > count ? place : from + (((place % BLOCK) * STRIDE) % BLOCK);
};

const idOf = (number: number): string => `service-${String(number).padStart(7, "0")}`;

export const ownerOf = (number: number): string => `owner-${Math.floor(number / OWNED)}`;

const teamOf = (key: Buffer, purpose: string): string => {
  const team = `team-${drawn(key, 8, TEAMS)}`;
  return team === APART.team && purpose === APART.purpose ? "team-1" : team;
};

/** The metadata of the approver of a number, whose other pairs `key` decides. */
export const metadataOf = (number: number, key: Buffer): Metadata => {
  const purpose = PURPOSES[drawn(key, 0, PURPOSES.length)] ?? "";
  return [
    ["owner", ownerOf(number)],
    ["purpose", purpose],
    ["region", REGIONS[drawn(key, 4, REGIONS.length)] ?? ""],
    ["team", teamOf(key, purpose)],
  ];
};

/** The approver of a number. Its key is 32 bytes that nobody has the private key of. */
export const approverOf = (crypto: Pick<Crypto, "digest" | "sha256OfText">, number: number): Approver => {
  const id = idOf(number);
  const key = createHash("sha256").update(id).digest();
  const descriptor = descriptorJson({ type: "SIGNATURE", algorithm: ALGORITHM, publicKey64: key.toString("base64") });
  const createdAt = FIRST_MILLIS + number;
  return {
    id,
    ref: approverRef(id, refDigest(crypto.sha256OfText, descriptor)),
    descriptor,
    keyIdentity: keyIdentityOf(crypto, ALGORITHM, Uint8Array.from(key)),
    metadata: metadataOf(number, key),
    revision: 1,
    createdAt,
    updatedAt: createdAt,
  };
};
