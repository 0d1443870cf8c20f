/** What must be the same on every peer of a cluster, whatever else their files say. */
import { canonicalJson } from "../../core/codec/CanonicalJson.ts";
import type { Config } from "./ConfigSchema.ts";

/**
 * The shared part of a configuration as canonical JSON, to be digested and
 * compared at genesis and at every readiness probe.
 *
 * In it: whom a token must come from and be for, and how it may be signed; the
 * backend that verifies signatures (native and portable ones differ at the
 * edges); the WebAuthn settings; the features and authority types. Sets are
 * sorted, so that their order in a file does not matter. Not in it: addresses,
 * paths, where the keys come from, limits of one peer, and the quorum, which
 * `init` sets.
 */
export const configDigestInput = (config: Config): string =>
  canonicalJson({
    version: 1,
    audience: config.auth.audience,
    issuer: config.auth.issuer ?? null,
    algorithms: config.auth.algorithms.toSorted(),
    cryptoBackend: config.crypto.backend,
    webauthn: { enabled: config.webauthn.enabled },
    features: [...new Set(["core", ...config.features])].toSorted(),
    authorities: { arbitrary: config.authorities.arbitrary },
    development: config.development,
  });
