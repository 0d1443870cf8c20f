/** Whom the bearer tokens in a message, or of a caller, speak for. */
import { Either } from "effect";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { IntakePorts } from "../../runtime/transport/Intake.ts";
import type { TokenVerifier } from "./TokenVerifier.ts";

/** The check of a token that was verified before, at once; undefined for any other. */
export const knownBy =
  ({ known }: Pick<TokenVerifier, "known">) =>
  (token: string): ActorCheck | undefined => {
    const claims = known(token);
    return claims && { _tag: "Verified", claims };
  };

export const checkWith =
  (verifier: TokenVerifier) =>
  async (token: string): Promise<ActorCheck> =>
    Either.match(await verifier.verify(token), {
      onLeft: (fault): ActorCheck => fault,
      onRight: (claims): ActorCheck => ({ _tag: "Verified", claims }),
    });

/** One check for each different token: the requests of one caller often share a batch. */
export const judgedBy =
  (check: (token: string) => Promise<ActorCheck>): IntakePorts<Uint8Array, never>["judge"] =>
  (tokens, judged) => {
    const checks = new Map<string, Promise<ActorCheck>>();
    const all = tokens.map((token) => {
      const known = checks.get(token) ?? check(token);
      checks.set(token, known);
      return known;
    });
    void Promise.all(all).then(judged);
  };
