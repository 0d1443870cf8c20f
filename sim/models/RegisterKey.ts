/** The model of the command that registers a key. */
import { type Command, toRegister } from "../requests/Commands.ts";
import { assertAllowed, unasked } from "../requests/Success.ts";
import { Violation } from "../base/Violation.ts";
import { ofApprover, refusedAs } from "./approvers/ApproverChanges.ts";
import { metadataOf } from "./approvers/ApproverSubject.ts";
import type { Model } from "./Model.ts";

export const registerKey: Model<Command> = {
  kind: "REGISTER",
  permission: { ...toRegister, isNeeded: true },
  deeds: () => [],
  rewritten: (commands, { id, key, team }) => commands.command(id, key, `${team}-rewritten`),
  assertMeant: (requestId, { kind, id, descriptor }, token, answer) => {
    if (answer._tag !== "Registered") throw unasked(requestId, kind, answer);
    const { approver } = answer;
    if (approver.id !== id || approver.descriptor !== descriptor)
      throw new Violation(
        "S14",
        `request ${requestId} registers id ${id}`,
        `it was answered with approver ${approver.ref}`,
      );
    assertAllowed(requestId, token);
  },
  // One key is one, whatever form it was submitted in.
  // A key of the service's own is in no history of approvers.
  meaning: ({ keyName, id, team, edge }) =>
    edge?.refusedAs === "KEY_ALREADY_REGISTERED"
      ? undefined
      : { kind: "register", key: keyName, id, metadata: metadataOf(team), base: undefined },
  refusedAs,
  changes: {
    ...ofApprover,
    auditOf: () => ({ event: "APPROVER_REGISTERED" }),
    askedOf: (commands, { request }) => commands.byBody(request.bodyDigest),
  },
};
