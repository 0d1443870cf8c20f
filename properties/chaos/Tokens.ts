/** The tokens of callers, made by the development cluster's own issuer, and the claims of each by its id. */
import { Effect, Either } from "effect";
import type { ActorClaims } from "../../core/auth/ActorClaims.ts";
import { openDevelopmentIssuer, type DevelopmentIssuer } from "../../server/auth/DevelopmentIssuer.ts";
import { parseTokenClaims } from "../../server/auth/TokenClaims.ts";
import type { Cluster } from "../../server/dev/ClusterFile.ts";
import type { TokenKind } from "../../sim/requests/Commands.ts";

const HOUR = 3_600_000;
/** The service wants at least 5 s left. */
const SHORT_MILLIS = 8_000;

const reading = ["service.approvers.read"];
const ofKeys = ["service.dkg.*", "service.key.*.*", "service.compliance.inventory", "service.recover"];
const permissions = ["service.approvers.register", "service.approvers.metadata", ...ofKeys, ...reading];

interface Known {
  readonly kind: TokenKind;
  readonly claims: ActorClaims;
}

/** A token with one character of its signature changed. */
const forge = (token: string): string => {
  const at = token.length - 10;
  return `${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`;
};

export class Tokens {
  readonly #issuer: DevelopmentIssuer;
  readonly #cluster: Cluster;
  readonly #byId = new Map<string, Known>();
  /** By kind and bearer. */
  readonly #kept = new Map<string, string>();

  private constructor(issuer: DevelopmentIssuer, cluster: Cluster) {
    this.#issuer = issuer;
    this.#cluster = cluster;
  }

  /** Opens the issuer in a development cluster's folder. */
  static async open(folder: string, cluster: Cluster): Promise<Tokens> {
    return new Tokens(await Effect.runPromise(openDevelopmentIssuer(folder)), cluster);
  }

  /** A token of a kind for a bearer; all but short ones are made once. */
  async of(kind: TokenKind, bearer = "caller"): Promise<string> {
    const subject = `${bearer}-${kind}`;
    const kept = this.#kept.get(subject);
    if (kept !== undefined) return kept;
    const token = await this.#mint(kind, subject);
    if (kind !== "short") this.#kept.set(subject, token);
    return token;
  }

  tokenOf(jti: string | undefined): Known | undefined {
    return jti === undefined ? undefined : this.#byId.get(jti);
  }

  /** The beginning of every token of this issuer, and of nothing else. */
  async mark(): Promise<string> {
    const [header = ""] = (await this.of("good")).split(".");
    return header;
  }

  async #mint(kind: TokenKind, subject: string): Promise<string> {
    const { audience, issuer } = this.#cluster;
    const token = await Effect.runPromise(
      this.#issuer.mint({
        subject,
        permissions: kind === "forbidden" ? reading : permissions,
        ttlMillis: kind === "short" ? SHORT_MILLIS : HOUR,
        audience: kind === "foreign" ? "another-service" : audience,
        issuer,
        now: Date.now() - (kind === "expired" ? 2 * HOUR : 0),
      }),
    );
    const [, payload = ""] = token.split(".");
    const claims = Either.getOrThrow(parseTokenClaims(Buffer.from(payload, "base64url")));
    if (claims.jti !== undefined) this.#byId.set(claims.jti, { kind, claims });
    return kind === "forged" ? forge(token) : token;
  }
}
