/** Single changes to the structure of any honest registration, each with the check that must find it. */
import { concatBytes } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { type Making, uint16 } from "./Authenticator.ts";
import type { AnyRegistration } from "./AnyAuthenticator.ts";

/** A registration with one thing wrong. */
export interface Mutated {
  readonly name: string;
  /** The code of the first error. */
  readonly code: string;
  readonly registration: AnyRegistration;
}

interface Mutation {
  readonly name: string;
  readonly code: string;
  /** @param at anything; which place of many is changed */
  readonly change: (making: AnyRegistration["making"], at: number) => Partial<Making>;
}

const inData =
  (change: (honest: Uint8Array, at: number, making: AnyRegistration["making"]) => Uint8Array) =>
  (making: AnyRegistration["making"], at: number): Partial<Making> => ({
    authenticatorData: (honest) => change(honest, at, making),
  });
const inObject = (change: (honest: Uint8Array, at: number) => Uint8Array) => (_: Making, at: number) => ({
  attestationObject: (honest: Uint8Array) => change(honest, at),
});
/** Into the text that the browser of this registration would send. */
const inClientData =
  (change: (honest: string, at: number) => string) =>
  (making: AnyRegistration["making"], at: number): Partial<Making> => ({
    clientData: (plain) => change(String(making.clientData?.(plain) ?? plain), at),
  });
const inMembers = (change: (members: { [name: string]: unknown }) => object) =>
  inClientData((honest) => JSON.stringify(change(JSON.parse(honest))));
const without = (name: string) =>
  inMembers((members) => Object.fromEntries(Object.entries(members).filter(([each]) => each !== name)));
const flagged = (set: number, cleared = 0) =>
  inData((honest) => {
    const copy = honest.slice();
    copy[32] = ((copy[32] ?? 0) | set) & ~cleared;
    return copy;
  });
const cut = (bytes: Uint8Array, at: number): Uint8Array => bytes.slice(0, 1 + (at % (bytes.length - 1)));
const behind = (bytes: Uint8Array, at: number): Uint8Array => concatBytes(bytes, Uint8Array.of(at & 0xff));
const changed = (bytes: Uint8Array, at: number, by = 1): Uint8Array => {
  const copy = bytes.slice();
  copy[at] = (copy[at] ?? 0) ^ by;
  return copy;
};
/** Where the key begins in authenticator data. */
const keyAt = ({ credentialId }: AnyRegistration["making"]): number => 55 + credentialId.length;
const BESIDE = { BE: 0x08, BS: 0x10 };

const mutations: ReadonlyArray<Mutation> = [
  {
    name: "client data cut short",
    code: "client_data_json",
    change: inClientData((text, at) => text.trim().slice(0, 1 + (at % (text.trim().length - 1)))),
  },
  { name: "client data with more behind", code: "client_data_json", change: inClientData((text) => `${text},`) },
  { name: "client data in an array", code: "client_data_json", change: inClientData((text) => `[${text}]`) },
  {
    name: "a member of client data twice",
    code: "client_data_json",
    change: inClientData((text, at) => {
      const members = Object.entries(JSON.parse(text));
      const [name, value] = members[at % members.length] ?? [];
      return text.replace(/\}\s*$/, `,${JSON.stringify(name)}:${JSON.stringify(value)}}`);
    }),
  },
  { name: "no type", code: "client_data_type", change: without("type") },
  { name: "no challenge", code: "challenge", change: without("challenge") },
  { name: "no origin", code: "origin", change: without("origin") },
  { name: "crossOrigin", code: "cross_origin", change: inMembers((own) => ({ ...own, crossOrigin: true })) },
  { name: "topOrigin", code: "top_origin", change: inMembers((own) => ({ ...own, topOrigin: own["origin"] })) },
  { name: "an attestation object cut short", code: "attestation_object", change: inObject(cut) },
  { name: "an attestation object with a byte behind", code: "attestation_object", change: inObject(behind) },
  {
    name: "a tagged attestation object",
    code: "attestation_object",
    change: inObject((honest, at) => concatBytes(Uint8Array.of(0xc0 | (at % 24)), honest)),
  },
  {
    name: "an attestation object of indefinite length",
    code: "attestation_object",
    change: inObject((honest) => concatBytes(Uint8Array.of(0xbf), honest.subarray(1), Uint8Array.of(0xff))),
  },
  {
    name: "one more member in the attestation object",
    code: "attestation_object",
    change: inObject((honest, at) =>
      concatBytes(Uint8Array.of(0xa4), honest.subarray(1), Uint8Array.of(at % 24, 0xf5)),
    ),
  },
  { name: "another RP ID hash", code: "rp_id_hash", change: inData((honest, at) => changed(honest, at % 32)) },
  { name: "no user presence", code: "user_presence", change: flagged(0, 0x01) },
  { name: "no user verification", code: "user_verification", change: flagged(0, 0x04) },
  { name: "no attested credential", code: "attested_credential", change: flagged(0, 0x40) },
  {
    name: "a reserved flag",
    code: "reserved_flags",
    change: (making, at) => flagged(at % 2 === 0 ? 0x02 : 0x20)(making, at),
  },
  { name: "backed up and not eligible", code: "backup_flags", change: flagged(BESIDE.BS, BESIDE.BE) },
  {
    name: "authenticator data that ends in its head",
    code: "authenticator_data",
    change: inData((honest, at) => honest.slice(0, at % 37)),
  },
  {
    name: "authenticator data with a byte behind",
    code: "authenticator_data",
    change: inData(behind),
  },
  {
    name: "a credential id of too few bytes",
    code: "credential_id",
    change: inData((honest, at) => concatBytes(honest.subarray(0, 53), uint16(at % 16), honest.subarray(55))),
  },
  {
    name: "a credential id of too many bytes",
    code: "credential_id",
    change: inData((honest, at) =>
      concatBytes(honest.subarray(0, 53), uint16(1024 + (at % 64_512)), honest.subarray(55)),
    ),
  },
  {
    name: "another credential id",
    code: "id",
    change: inData((honest, at, { credentialId }) => changed(honest, 55 + (at % credentialId.length))),
  },
  {
    name: "a key with six labels",
    code: "cose_key",
    change: () => ({
      cose: (honest) => concatBytes(Uint8Array.of(0xa6), honest.subarray(1), Uint8Array.of(0x23, 0x40)),
    }),
  },
  {
    name: "a key in another order",
    code: "cose_key",
    change: () => ({
      cose: (honest) =>
        concatBytes(honest.subarray(0, 1), honest.subarray(3, 5), honest.subarray(1, 3), honest.subarray(5)),
    }),
  },
  {
    name: "a key of another algorithm",
    code: "algorithm",
    change: inData((honest, _, making) => changed(honest, keyAt(making) + 4)),
  },
  {
    name: "a key off the curve",
    code: "curve_point",
    change: inData((honest, at, making) => changed(honest, keyAt(making) + 45 + (at % 32))),
  },
  {
    name: "a format that nobody knows",
    code: "attestation_format",
    change: ({ attestation }) => ({ attestation: { state: () => new Map(), ...attestation, format: "unknown" } }),
  },
  {
    name: "one more member in the statement",
    code: "attestation_statement",
    change: () => ({ statement: (honest) => new Map([...honest, ["more", 1]]) }),
  },
];

/** Any honest registration with any one of the changes. */
export const anyMutation = (honest: fc.Arbitrary<AnyRegistration>): fc.Arbitrary<Mutated> =>
  fc
    .record({ honest, mutation: fc.constantFrom(...mutations), at: fc.nat({ max: 100_000 }) })
    .map(({ honest: registration, mutation: { name, code, change }, at }) => ({
      name,
      code,
      registration: { ...registration, making: { ...registration.making, ...change(registration.making, at) } },
    }));
