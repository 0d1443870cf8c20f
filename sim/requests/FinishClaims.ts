/**
 * A session or a credential is refused as taken only if another response may have taken it: a response stays the same
 * one however it is written, and must not be told that it came second to itself (S30).
 */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import { Violation } from "../base/Violation.ts";
import type { Finish } from "./EnrollmentRequests.ts";

type Claim = Pick<Finish, "registrationId" | "credentialName" | "response">;

export class FinishClaims {
  /** By session, and by credential: the responses that were sent for it, two at most. */
  readonly #responses = new Map<string, Set<string>>();

  /** A response is sent. */
  asked({ registrationId, credentialName, response }: Claim): void {
    for (const what of [registrationId, credentialName]) {
      const known = this.#responses.get(what);
      if (known === undefined) this.#responses.set(what, new Set([response]));
      else if (known.size === 1) known.add(response);
    }
  }

  /** Throws {@link Violation} where a response is refused for what nobody else may have taken. */
  refused(requestId: string, { registrationId, credentialName, response }: Claim, code: RejectionCode): void {
    const isSession = code === "REGISTRATION_COMPLETED";
    if (!isSession && code !== "CREDENTIAL_ALREADY_REGISTERED") return;
    const what = isSession ? registrationId : credentialName;
    const others = this.#responses.get(what) ?? new Set();
    if (others.size > 1 || !others.has(response)) return;
    throw new Violation(
      "S30",
      `no response but that of request ${requestId} was ever sent for ${isSession ? "session" : "credential"} ${what}`,
      `it was answered ${code}`,
    );
  }
}
