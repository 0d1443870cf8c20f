/** The one call of this page, and what its answer says. */

const FINISH = "/v1/custody/approvers/webauthn/registration/finish";
/** The service answers a change within 10 s unless it is configured otherwise; a minute is the most there is. */
const PATIENCE = 70_000;

/**
 * An error as this page shows it (RFC 9457 and the members this service adds).
 * @typedef {object} Problem
 * @property {string} code
 * @property {string} title
 * @property {string} detail
 * @property {string} hint
 * @property {boolean} retryable
 * @property {ReadonlyArray<string>} faults
 * @property {string} requestId
 *
 * @typedef {{readonly id: string, readonly ref: string}} Registered
 */

/**
 * @param {unknown} value
 * @param {string} name
 * @returns {unknown}
 */
const member = (value, name) =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;

/**
 * @param {unknown} value
 * @param {string} name
 */
const textOf = (value, name) => {
  const found = member(value, name);
  return typeof found === "string" ? found : "";
};

/** @returns {Problem} */
const noAnswer = () => ({
  code: "",
  title: "The service did not answer",
  detail: "It is not known whether the passkey was registered.",
  hint: "Send it again: sending the same passkey twice does no harm.",
  retryable: true,
  faults: [],
  requestId: "",
});

/**
 * @param {unknown} body
 * @returns {Problem}
 */
const problemOf = (body) => {
  const code = textOf(body, "code");
  const errors = member(body, "errors");
  if (code === "") return noAnswer();
  return {
    code,
    title: textOf(body, "title"),
    detail: textOf(body, "detail"),
    hint: textOf(body, "hint"),
    retryable: member(body, "retryable") === true,
    faults: Array.isArray(errors) ? errors.map((each) => textOf(each, "detail")).filter((each) => each !== "") : [],
    requestId: textOf(body, "requestId"),
  };
};

/**
 * Sends a passkey with the invitation it was made for.
 *
 * @param {{invitation: string, credential: import("./Passkey.js").PasskeyJson}} body
 * @param {string} token the holder's own
 * @returns {Promise<Registered | Problem>}
 */
export const finish = async (body, token) => {
  try {
    const response = await fetch(FINISH, {
      method: "POST",
      headers: { "content-type": "application/json", "x-jwt-token": token },
      body: JSON.stringify(body),
      mode: "same-origin",
      credentials: "omit",
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(PATIENCE),
    });
    const answer = /** @type {unknown} */ (await response.json());
    if (!response.ok) return problemOf(answer);
    const [id, ref] = [textOf(answer, "id"), textOf(answer, "ref")];
    return ref === "" ? noAnswer() : { id, ref };
  } catch {
    return noAnswer();
  }
};
