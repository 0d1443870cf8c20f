/** The part of a configuration that must be the same on every peer of a cluster. */
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { canonicalJson } from "../../core/codec/CanonicalJson.ts";
import type { RelyingParty } from "../../core/webauthn/RelyingParty.ts";
import type { Config } from "./ConfigSchema.ts";

const enrollment = (party: RelyingParty | undefined) =>
  party === undefined
    ? { enabled: false }
    : {
        enabled: true,
        rpId: party.rpId,
        rpName: party.rpName,
        origins: party.origins.toSorted(),
        registrationTtlMillis: party.registrationTtlMillis,
        attestation: party.attestation,
        trustRoots: party.trustRoots.map((der) => bytesToHex(sha256(der))).toSorted(),
      };

/**
 * The shared part of a configuration as canonical JSON, to be digested and
 * compared at genesis and at every readiness probe.
 *
 * In it: whose tokens are accepted and for which audience, and how they may be signed and typed; the backend that
 * verifies signatures (native and portable ones differ at the edges); the relying party of enrollments, with the
 * certificates it trusts and not the files they came from; the authority types. Sets are sorted, so that
 * their order in a file does not matter. Not in it: addresses, paths, where the keys come from, limits of one peer, and
 * the quorum, which `init` sets.
 *
 * @param party undefined while enrollment is off
 */
export const configDigestInput = (config: Config, party: RelyingParty | undefined): string =>
  canonicalJson({
    version: 1,
    audience: config.auth.audience,
    issuer: config.auth.issuer ?? null,
    algorithms: config.auth.algorithms.toSorted(),
    tokenTypes: config.auth.tokenTypes.map((type) => type.toLowerCase()).toSorted(),
    cryptoBackend: config.crypto.backend,
    webauthn: enrollment(party),
    // What is demanded of a program that has it changes nothing; so it stood in every digest that nobody demanded more.
    features: ["core"],
    authorities: { arbitrary: config.authorities.arbitrary },
    development: config.development,
  });
