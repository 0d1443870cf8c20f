/**
 * What options say beside whom they are for (contract 4.1): a challenge, a handle and an invitation that no other session
 * has, and the credentials that this id has already.
 */
import type { Offer } from "../../core/commands/enrollPasskey/Offer.ts";
import { Violation } from "../base/Violation.ts";
import type { Finish } from "./EnrollmentRequests.ts";

type Response = Pick<Finish, "id" | "rpId" | "credentialName">;

/** An answer to a request for options. */
export interface Offered {
  readonly requestId: string;
  /** The id that its registrar asked for. */
  readonly id: string;
  /** When its registrar asked, in microseconds. */
  readonly askedAt: number;
  readonly offer: Offer;
}

/** 32 bytes as unpadded Base64url. */
const FRESH = /^[\w-]{43}$/u;

/** The id of a credential in its name, behind that of its relying party. */
const credentialIn = ({ credentialName }: Response): string =>
  credentialName.slice(credentialName.lastIndexOf(" ") + 1);

export class OfferedOptions {
  /** By id and relying party: the credentials that anybody has answered options with, and since when each was enrolled for certain. */
  readonly #sent = new Map<string, Map<string, number>>();
  /** By each value of a session that must be its own: the session. */
  readonly #owners = new Map<string, string>();

  #of(id: string, rpId: string): Map<string, number> {
    const name = `${rpId} ${id}`;
    const known = this.#sent.get(name) ?? new Map<string, number>();
    this.#sent.set(name, known);
    return known;
  }

  /** A response is sent. */
  asked(response: Response): void {
    const known = this.#of(response.id, response.rpId);
    if (!known.has(credentialIn(response))) known.set(credentialIn(response), Number.POSITIVE_INFINITY);
  }

  /** Its caller was told that it has enrolled its credential. */
  enrolled(response: Response, now: number): void {
    const known = this.#of(response.id, response.rpId);
    const credential = credentialIn(response);
    known.set(credential, Math.min(now, known.get(credential) ?? now));
  }

  /** @throws {Violation} S14 where the options are not what they must be */
  offered({ requestId, id, askedAt, offer }: Offered): void {
    const wrong = (what: string): Violation =>
      new Violation("S14", `request ${requestId} asked for options for id ${id}`, what);
    const { registrationId, invitation, publicKey } = offer;
    for (const value of [invitation, publicKey.challenge, publicKey.user.id]) {
      if (!FRESH.test(value)) throw wrong("what must be 32 fresh bytes is something else");
      const owner = this.#owners.get(value) ?? registrationId;
      if (owner !== registrationId) throw wrong(`session ${registrationId} shares a value with session ${owner}`);
      this.#owners.set(value, registrationId);
    }
    const excluded = new Set(publicKey.excludeCredentials.map((each) => each.id));
    const known = this.#of(id, publicKey.rp.id);
    for (const credential of excluded)
      if (!known.has(credential)) throw wrong(`they exclude credential ${credential}, which nobody enrolled for it`);
    for (const [credential, since] of known)
      if (since < askedAt && !excluded.has(credential))
        throw wrong(`they do not exclude credential ${credential}, enrolled for it before`);
  }
}
