/** Authenticator data that a ceremony must refuse: section 6.1. */
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { Flags, type Making, uint16 } from "../Authenticator.ts";
import { after, type Case, spliced } from "./Changes.ts";

const flagged = (flags: number): Partial<Making> => ({ flags });
const { UP, UV, BE, BS, AT, ED } = Flags;
const GOOD = UP | UV | AT;

export const authenticatorData: ReadonlyArray<Case> = [
  ["authenticator data that is empty", "authenticator_data", { authenticatorData: () => new Uint8Array(0) }],
  ["authenticator data of a hash alone", "authenticator_data", { authenticatorData: (honest) => honest.slice(0, 32) }],
  [
    "authenticator data cut in its counter",
    "authenticator_data",
    { authenticatorData: (honest) => honest.slice(0, 36) },
  ],
  [
    "authenticator data without credential",
    "attested_credential",
    { authenticatorData: (honest) => honest.slice(0, 37) },
  ],
  [
    "authenticator data cut in the AAGUID",
    "attested_credential",
    { authenticatorData: (honest) => honest.slice(0, 52) },
  ],
  [
    "authenticator data that ends with the length of no id",
    "credential_id",
    { authenticatorData: (honest) => spliced(honest.slice(0, 55), 53, 0, 0) },
  ],
  ["authenticator data cut in the id", "attested_credential", { authenticatorData: (honest) => honest.slice(0, 60) }],
  ["authenticator data cut before the key", "cose_key", { authenticatorData: (honest) => honest.slice(0, 87) }],
  ["authenticator data cut in the key", "cose_key", { authenticatorData: (honest) => honest.slice(0, -1) }],
  [
    "authenticator data with a byte behind",
    "authenticator_data",
    { authenticatorData: (honest) => after(honest, "00") },
  ],
  [
    "authenticator data with unannounced extensions",
    "authenticator_data",
    { authenticatorData: (honest) => after(honest, "a0") },
  ],
  ["another RP ID", "rp_id_hash", { rpId: "evil.example" }],
  ["the RP ID's parent", "rp_id_hash", { rpId: "org" }],
  ["the origin as RP ID", "rp_id_hash", { rpId: "https://example.org" }],
  ["no user presence", "user_presence", flagged(GOOD & ~UP)],
  ["no flag at all", "user_presence", flagged(0)],
  ["no user verification", "user_verification", flagged(GOOD & ~UV)],
  ["reserved flag 1", "reserved_flags", flagged(GOOD | 0x02)],
  ["reserved flag 5", "reserved_flags", flagged(GOOD | 0x20)],
  ["backed up though not eligible", "backup_flags", flagged(GOOD | BS)],
  ["no attested credential flag", "attested_credential", flagged(GOOD & ~AT)],
  ["eligible without attested credential", "attested_credential", flagged(UP | UV | BE)],
  ["extensions announced and absent", "authenticator_extensions", flagged(GOOD | ED)],
  [
    "no credential id",
    "credential_id",
    { authenticatorData: (honest) => concatBytes(honest.subarray(0, 53), uint16(0), honest.subarray(87)) },
  ],
  ["a credential id of no byte, wherever it stands", "credential_id", { credentialId: new Uint8Array(0) }],
  [
    "a credential id of 1024 bytes, wherever it stands",
    "credential_id",
    { credentialId: new Uint8Array(1024).fill(1) },
  ],
  ["a credential id of one byte", "credential_id", { credentialId: new Uint8Array(1) }],
  ["a credential id of 15 bytes", "credential_id", { credentialId: new Uint8Array(15).fill(1) }],
  [
    "a credential id that says 1024 bytes",
    "credential_id",
    { authenticatorData: (honest) => spliced(honest, 53, 4, 0) },
  ],
  [
    "a credential id that says 65535 bytes",
    "credential_id",
    { authenticatorData: (honest) => spliced(honest, 53, 255, 255) },
  ],
  [
    "a credential id longer than the bytes",
    "attested_credential",
    { authenticatorData: (honest) => spliced(honest, 53, 3, 0) },
  ],
  ["extensions that are an array", "authenticator_extensions", { extensions: hexToBytes("80") }],
  ["extensions that are an integer", "authenticator_extensions", { extensions: hexToBytes("00") }],
  ["extensions with an integer key", "authenticator_extensions", { extensions: hexToBytes("a10101") }],
  ["extensions with a key twice", "authenticator_extensions", { extensions: hexToBytes("a2616101616102") }],
  ["extensions with a float", "authenticator_extensions", { extensions: hexToBytes("a16161f93c00") }],
  ["extensions of indefinite length", "authenticator_extensions", { extensions: hexToBytes("bfff") }],
  ["extensions with a tag", "authenticator_extensions", { extensions: hexToBytes("a16161c000") }],
  ["extensions that end early", "authenticator_extensions", { extensions: hexToBytes("a16161") }],
  ["extensions nested too deep", "authenticator_extensions", { extensions: hexToBytes(`a16161${"81".repeat(9)}00`) }],
  ["extensions with something behind", "authenticator_data", { extensions: hexToBytes("a000") }],
];
