/** What callers are known to have asked for, by what there is to see of it. */
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

/** What callers sent and held, whoever they were: a simulated workload, or programs that called real peers. */
export interface Said {
  readonly byBody: (bodyDigest: string) => Pick<Command, "id" | "team" | "descriptor"> | undefined;
  /** What was to be put in the place of an approver's metadata by a PUT with this path, body and If-Match. */
  readonly replacementOf: (
    path: string,
    bodyDigest: string,
    ifMatch: string,
  ) => Pick<Replacement, "ref" | "team"> | undefined;
  /** What was meant by a response to enrollment options with this body. */
  readonly finishOf?: (bodyDigest: string) => FinishSaid | undefined;
  /** What was to be enrolled by a request for options with this body. */
  readonly inviteOf?: (bodyDigest: string) => { readonly id: string; readonly team: string } | undefined;
  /** What was asked for by a request of this kind, which proposals tell so much of. */
  readonly byRequest?: (kind: string, request: RequestLine) => Asked | undefined;
  readonly tokenOf: (jti: string | undefined) => Pick<Token, "kind" | "claims"> | undefined;
}
