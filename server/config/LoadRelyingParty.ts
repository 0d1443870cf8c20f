/** The relying party of a configuration, with the certificates that its files hold. */
import { Effect } from "effect";
import type { RelyingParty } from "../../core/webauthn/RelyingParty.ts";
import type { ConfigError } from "./ConfigError.ts";
import type { Config } from "./ConfigSchema.ts";
import { loadTrustRoots } from "./TrustRoots.ts";

/**
 * The relying party; undefined while enrollment is off. Fails as {@link loadTrustRoots} does.
 */
export const loadRelyingParty = (config: Config): Effect.Effect<RelyingParty | undefined, ConfigError> =>
  Effect.gen(function* () {
    const { enabled, rpId, rpName, origins, registrationTtlMillis, attestation } = config.webauthn;
    // The schema requires both names of a configuration that enables enrollment.
    if (!enabled || rpId === undefined || rpName === undefined) return undefined;
    const trustRoots = yield* loadTrustRoots(config);
    return { rpId, rpName, origins: origins.toSorted(), registrationTtlMillis, attestation, trustRoots };
  });
