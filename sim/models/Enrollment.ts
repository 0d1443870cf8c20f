/** The models of enrollment: requests for options, which end in no proposal, and the command that a response asks for. */
import { toRegister } from "../requests/Commands.ts";
import type { Finish, Invite } from "../requests/EnrollmentRequests.ts";
import { assertAllowed, unasked } from "../requests/Success.ts";
import { Violation } from "../base/Violation.ts";
import { ofApprover, refusedAs } from "./approvers/ApproverChanges.ts";
import { metadataOf } from "./approvers/ApproverSubject.ts";
import type { Model } from "./Model.ts";

export const options: Model<Invite> = {
  kind: "OPTIONS",
  permission: { ...toRegister, isNeeded: true },
  deeds: () => [],
  rewritten: (commands, { id, team }) => commands.enrollment.invite(id, `${team}-rewritten`),
  assertMeant: (requestId, { kind, id }, token, answer) => {
    if (answer._tag !== "Offered" || answer.offer.publicKey.user.name !== id) throw unasked(requestId, kind, answer);
    assertAllowed(requestId, token);
  },
  meaning: () => undefined,
  refusedAs: () => "no",
  changes: undefined,
};

/** What a session is called where others are keys. */
const SESSION = "session ";

export const enrollPasskey: Model<Finish> = {
  kind: "FINISH",
  permission: { ...toRegister, isNeeded: false },
  deeds: () => [],
  rewritten: (_commands, asked) => asked,
  // An honest response, under any valid token.
  assertMeant: (requestId, { kind, id, descriptor, isHonest, signCount }, token, answer) => {
    if (answer._tag !== "Registered") throw unasked(requestId, kind, answer);
    const { approver, observations } = answer;
    if (
      !isHonest ||
      approver.id !== id ||
      approver.descriptor !== descriptor ||
      observations === undefined ||
      observations.signCount < signCount
    )
      throw new Violation(
        "S14",
        `request ${requestId} brings ${isHonest ? "a" : "no honest"} response for id ${id}, with counter ${signCount}`,
        `it was answered with approver ${approver.ref} and counter ${observations?.signCount}`,
      );
    if (token !== "forbidden") assertAllowed(requestId, token);
  },
  // One session makes one approver, by whichever response; the key in it is claimed besides.
  meaning: ({ id, team, keyName, registrationId }) => ({
    kind: "register",
    key: `${SESSION}${registrationId}`,
    id,
    metadata: metadataOf(team),
    base: undefined,
    claims: keyName,
  }),
  refusedAs,
  changes: { ...ofApprover, auditOf: () => ({ event: "APPROVER_REGISTERED" }), askedOf: () => undefined },
};
