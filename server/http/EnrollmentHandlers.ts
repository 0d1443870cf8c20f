/** Enrollment of passkeys (contract 4.1): the page. */
import { Effect } from "effect";
import { ENROLL_PATH, pageHeaders } from "../enroll/EnrollmentPage.ts";
import type { Handler } from "./ApiCall.ts";
import { httpFault } from "./HttpErrors.ts";

const noPage = httpFault(
  "NOT_FOUND",
  "There is no such file of the enrollment page here.",
  "Enrollment is off unless webauthn.enabled is true; the page is at /enroll.",
);

/** GET /enroll and the files of the page. They hold nothing of anybody, so that no token is asked for. */
export const page: Handler = ({ rest, ports }) => {
  const file = ports.config.webauthn.enabled ? ports.page.get(`${ENROLL_PATH}${rest}`) : undefined;
  return file === undefined ? Effect.fail(noPage) : Effect.succeed({ status: 200, ...file, headers: pageHeaders });
};
