/** Remembers which tokens were verified, so that a caller's many requests with one token cost one verification. */
import { hash } from "node:crypto";
import type { ActorClaims } from "../../core/auth/ActorClaims.ts";

/** Tokens remembered; twice as many at most. */
const REMEMBERED = 512;
/** Characters of their tokens, which the claims are hardly longer than; twice as many at most. */
const REMEMBERED_CHARACTERS = 1024 * 1024;

export interface VerifiedToken {
  readonly claims: ActorClaims;
  readonly generation: number;
}

/**
 * Keyed by the SHA-256 of the token, so that it holds no bearer secret. Only tokens whose signature held are in it:
 * whoever sends others, however many, pushes none out. It knows no time: whether claims count now is judged at every
 * use (core/auth/Authorization.ts), so a token that expires meanwhile, or that a clock set back makes one of the future,
 * is refused all the same.
 */
export class VerifiedTokens {
  #young = new Map<string, VerifiedToken>();
  #old = new Map<string, VerifiedToken>();
  #characters = 0;

  /**
   * What a token says, and the key set that it was verified under. It counts under that very set alone: the key behind
   * it may have been removed since.
   */
  get(token: string): VerifiedToken | undefined {
    const key = hash("sha256", token, "base64");
    return this.#young.get(key) ?? this.#old.get(key);
  }

  set(token: string, verified: VerifiedToken): void {
    if (this.#young.size >= REMEMBERED || this.#characters + token.length > REMEMBERED_CHARACTERS) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#characters = 0;
    }
    this.#characters += token.length;
    this.#young.set(hash("sha256", token, "base64"), verified);
  }
}
