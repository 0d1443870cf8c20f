/** What callers are known to have asked for, looked up by what can be seen of it. */
import type { RequestLine } from "../../core/protocol/Proposal.ts";
import type { Asked } from "./Asked.ts";
import type { Command, Replacement, Token } from "./Commands.ts";
import type { Finish } from "./EnrollmentRequests.ts";

/** A response as its holder meant it, and what it was told of the session. */
type FinishSaid = Pick<
  Finish,
  | "id"
  | "team"
  | "descriptor"
  | "registrationId"
  | "deadline"
  | "isHonest"
  | "signCount"
  | "credentialName"
  | "response"
>;

/** What callers sent and held: those of a simulated workload, or programs that called real peers. */
export interface Said {
  /** What callers call the key of an approver with this descriptor; the same for one key in every format. */
  readonly keyOf: (descriptor: string) => string;
  readonly byBody: (bodyDigest: string) => Pick<Command, "id" | "team" | "descriptor"> | undefined;
  /** The metadata meant by a PUT with this path, body and If-Match. */
  readonly replacementOf: (
    path: string,
    bodyDigest: string,
    ifMatch: string,
  ) => Pick<Replacement, "ref" | "team"> | undefined;
  /** The response to enrollment options meant by this body. */
  readonly finishOf?: (bodyDigest: string) => FinishSaid | undefined;
  /** The enrollment meant by a request for options with this body. */
  readonly inviteOf?: (bodyDigest: string) => { readonly id: string; readonly team: string } | undefined;
  /** The request of this kind, of which a proposal shows so much. */
  readonly byRequest?: (kind: string, request: RequestLine) => Asked | undefined;
  /** The bearer of a token, by its text. */
  readonly bearerOf?: (token: string) => Token["claims"] | undefined;
  readonly tokenOf: (jti: string | undefined) => Pick<Token, "kind" | "claims"> | undefined;
}
