/** Enrollment of passkeys (contract 4.1): options, finish, and the page. */
import { Effect } from "effect";
import { disabled, OPTIONS_PATH } from "../../core/commands/enrollPasskey/Enrollment.ts";
import { FINISH_PATH } from "../../core/commands/enrollPasskey/Finish.ts";
import { Limits } from "../../core/base/Limits.ts";
import { REGISTER_PERMISSION } from "../../core/commands/approvers/Permissions.ts";
import { ENROLL_PATH, pageHeaders } from "../enroll/EnrollmentPage.ts";
import { answer, type ApiCall, authorizedToChange, type Handler, holderOf } from "./ApiCall.ts";
import { BODY_MILLIS, registeredAnswer } from "./ApproverHandlers.ts";
import { faultOf, httpFault } from "./HttpErrors.ts";
import { readBody } from "./RequestBody.ts";

/** Asks the core, once the bearer may ask and the body is here: without permission nothing is learned or read. */
const asked = (call: ApiCall, path: string, permission: string | undefined, maxBytes: number) =>
  Effect.gen(function* () {
    const { request, ports } = call;
    const { token, actor } = yield* authorizedToChange(call, permission);
    if (ports.peer.settings.relyingParty === undefined) return yield* Effect.fail(faultOf(disabled));
    const { budget } = ports;
    const limits = { budget, actor: holderOf(actor), maxBytes, timeoutMillis: BODY_MILLIS };
    const rawBody = yield* readBody(request, limits);
    const command = { method: "POST", path, ifMatch: undefined, rawBody };
    return yield* Effect.promise(() => ports.peer.mutate(command, token, actor));
  });

/** POST …/registration/options. The answer holds the invitation, which is never told again. */
export const options: Handler = (call) =>
  Effect.gen(function* () {
    const answered = yield* asked(call, OPTIONS_PATH, REGISTER_PERMISSION, Limits.requestBodyBytes);
    if (answered._tag === "Rejected") return yield* Effect.fail(faultOf(answered.rejection));
    if (answered._tag !== "Offered") return yield* Effect.dieMessage(`options were answered with ${answered._tag}`);
    const { registrationId, invitation, expiresAt, publicKey } = answered.offer;
    const deadline = String(Math.floor(expiresAt / 1000));
    return answer(200, { registrationId, invitation, expiresAt, publicKey }, { "x-expires-at": deadline });
  });

/** POST …/registration/finish. Any valid token will do: the invitation is the permission. */
export const finish: Handler = (call) =>
  Effect.flatMap(asked(call, FINISH_PATH, undefined, Limits.requestBodyBytes), registeredAnswer);

const noPage = httpFault("NOT_FOUND", "The enrollment page has no such file.", "The page is at /enroll.");

/** GET /enroll and the files of the page. They hold nobody's data, so that no token is asked for. */
export const page: Handler = ({ rest, ports }) => {
  if (ports.peer.settings.relyingParty === undefined) return Effect.fail(faultOf(disabled));
  const file = ports.page.get(`${ENROLL_PATH}${rest}`);
  return file === undefined ? Effect.fail(noPage) : Effect.succeed({ status: 200, ...file, headers: pageHeaders });
};
