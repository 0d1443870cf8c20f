/** Whom the bearer tokens in a message, or of a caller, speak for. */
import { Either } from "effect";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { IntakePorts } from "../../runtime/transport/Intake.ts";
import type { TokenVerifier } from "./TokenVerifier.ts";

/** Whom one token speaks for. */
export interface TokenJudge {
  readonly check: (token: string) => Promise<ActorCheck>;
  /** The same at once, for a token that was verified before; undefined for any other. */
  readonly known: (token: string) => ActorCheck | undefined;
}

export const judgeOver = (verifier: Pick<TokenVerifier, "verify" | "known">): TokenJudge => ({
  check: async (token) =>
    Either.match(await verifier.verify(token), {
      onLeft: (fault): ActorCheck => fault,
      onRight: (claims): ActorCheck => ({ _tag: "Verified", claims }),
    }),
  known: (token) => {
    const claims = verifier.known(token);
    return claims && { _tag: "Verified", claims };
  },
});

/** One check for each different token: the requests of one caller often share a batch. */
export const judgedBy =
  ({ check }: Pick<TokenJudge, "check">): IntakePorts<Uint8Array, never>["judge"] =>
  (tokens, judged) => {
    const checks = new Map<string, Promise<ActorCheck>>();
    const all = tokens.map((token) => {
      const known = checks.get(token) ?? check(token);
      checks.set(token, known);
      return known;
    });
    void Promise.all(all).then(judged);
  };
