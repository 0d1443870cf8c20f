/** Enrollment of passkeys (contract 4.1): options, finish, and the page. */
import { Effect } from "effect";
import { disabled, OPTIONS_PATH } from "../../core/commands/enrollPasskey/Enrollment.ts";
import { FINISH_PATH } from "../../core/commands/enrollPasskey/Finish.ts";
import { ENROLL_PATH, pageHeaders } from "../enroll/EnrollmentPage.ts";
import { STRANGERS } from "./AnswerRoom.ts";
import { answer, type ApiCall, authorizedToChange, type Handler, mutated } from "./ApiCall.ts";
import { bodyOf, registeredAnswer } from "./ApproverHandlers.ts";
import { registryEndpoints } from "./endpoints/RegistryEndpoints.ts";
import { faultOf, httpFault } from "./HttpErrors.ts";

/** Asks the core, once the bearer may ask and the body is here: without permission nothing is learned or read. */
const asked = (call: ApiCall, path: string) =>
  Effect.gen(function* () {
    const { ports } = call;
    const bearer = yield* authorizedToChange(call);
    if (ports.peer.settings.relyingParty === undefined) return yield* Effect.fail(faultOf(disabled));
    const rawBody = yield* bodyOf(call, bearer.actor);
    return yield* mutated(call, { method: "POST", path, ifMatch: undefined, rawBody }, bearer);
  });

/** POST …/registration/options. The answer holds the invitation, which is never told again. */
export const options: Handler = (call) =>
  Effect.gen(function* () {
    const answered = yield* asked(call, OPTIONS_PATH);
    if (answered._tag === "Rejected") return yield* Effect.fail(faultOf(answered.rejection));
    if (answered._tag !== "Offered") return yield* Effect.dieMessage(`options were answered with ${answered._tag}`);
    const { registrationId, invitation, expiresAt, publicKey } = answered.offer;
    const deadline = String(Math.floor(expiresAt / 1000));
    const offer = { registrationId, invitation, expiresAt, publicKey };
    return answer(registryEndpoints.startEnrollment, 200, offer, { "x-expires-at": deadline });
  });

/** POST …/registration/finish. Any valid token will do: the invitation is the permission. */
export const finish: Handler = (call) => Effect.flatMap(asked(call, FINISH_PATH), registeredAnswer);

const noPage = httpFault("NOT_FOUND", "The enrollment page has no such file.", "The page is at /enroll.");

/** GET /enroll and the files of the page. They hold nobody's data, so that no token is asked for. */
export const page: Handler = ({ holes: { file: name }, ports }) => {
  if (ports.peer.settings.relyingParty === undefined) return Effect.fail(faultOf(disabled));
  const file = ports.page.get(name === undefined ? ENROLL_PATH : `${ENROLL_PATH}/${name}`);
  if (file === undefined) return Effect.fail(noPage);
  return Effect.succeed({ status: 200, ...file, headers: pageHeaders, caller: STRANGERS });
};
