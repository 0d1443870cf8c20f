/**
 * The way through the page: a link, a token, a passkey, a ref. The invitation, the token and the passkey are
 * held in the variables below and nowhere else; a reload or a closed tab forgets them.
 */
import { countDown } from "./Deadline.js";
import { parseLink, takeFragment } from "./Link.js";
import { createPasskey, hasPasskeys, isOurs, NoPasskey } from "./Passkey.js";
import { finish } from "./Service.js";
import { byId, say, setText, show, showProblem } from "./View.js";

const token = /** @type {HTMLInputElement} */ (byId("token"));
const submit = /** @type {HTMLButtonElement} */ (byId("submit"));

/** @type {import("./Link.js").Link | undefined} */
let link;
/** The passkey that was made and is not registered yet: it is sent again as it is, and never made twice for that.
 * @type {import("./Passkey.js").PasskeyJson | undefined} */
let passkey;

/** After these the link is of no more use. */
const isFinal = new Set([
  "REGISTRATION_NOT_FOUND",
  "REGISTRATION_EXPIRED",
  "REGISTRATION_COMPLETED",
  "CREDENTIAL_ALREADY_REGISTERED",
  "KEY_ALREADY_REGISTERED",
  "WEBAUTHN_DISABLED",
]);

const anotherPasskey =
  "The link is still good. Delete this passkey on your device and make another one, on another device if this happens again.";
const sendAgain = "Your passkey is kept on this page. Wait a moment and send it again; twice does no harm.";

const forget = () => {
  link = undefined;
  passkey = undefined;
  token.value = "";
  countDown(undefined);
};

/** @param {import("./View.js").Shown} problem */
const end = (problem) => {
  forget();
  show("invited", false);
  say("");
  showProblem(problem);
};

/** @param {boolean} isBusy */
const setBusy = (isBusy) => {
  submit.disabled = isBusy;
  token.readOnly = isBusy;
  submit.textContent = passkey === undefined ? "Create passkey" : "Send the passkey again";
};

/** @param {string} problem */
const setTokenProblem = (problem) => {
  setText("token-problem", problem);
  show("token-problem", problem !== "");
  token.setAttribute("aria-invalid", String(problem !== ""));
  if (problem !== "") token.focus();
};

/**
 * @param {import("./Service.js").Registered} registered
 * @param {string} expected
 */
const succeed = ({ id, ref }, expected) => {
  forget();
  setText("registered-id", id);
  setText("ref", ref);
  const isOther = id !== expected;
  setText("registered-notice", `The link said ${expected}. Tell the operator before this passkey is used.`);
  show("registered-notice", isOther);
  show("invited", false);
  show("registered", true);
  say("");
  byId("registered-title").focus();
};

/** @param {import("./Service.js").Problem} problem */
const fail = (problem) => {
  const { code, hint, retryable } = problem;
  if (isFinal.has(code)) {
    return end({ ...problem, hint: `${hint} If your device kept a passkey from this attempt, you can delete it.` });
  }
  // What the service finds wrong with this passkey it will find wrong again.
  const isRefused = code === "INVALID_CEREMONY" || code === "INVALID_REQUEST_BODY";
  if (isRefused) passkey = undefined;
  showProblem({ ...problem, hint: isRefused ? anotherPasskey : retryable ? sendAgain : hint });
  if (code === "UNAUTHENTICATED") setTokenProblem("The service refuses this token. Use another one.");
};

const enroll = async () => {
  if (link === undefined) return;
  const { asked, invitation } = link;
  const held = token.value.trim();
  setTokenProblem(/^[\x21-\x7e]{1,16384}$/.test(held) ? "" : "Paste your token here, on one line.");
  if (token.getAttribute("aria-invalid") === "true") return;
  showProblem(undefined);
  setBusy(true);
  try {
    if (passkey === undefined) {
      say("Follow what your browser or device asks.");
      passkey = await createPasskey(asked);
    }
    say("The passkey is made. All peers are checking it.");
    const answered = await finish({ invitation, credential: passkey }, held);
    say("");
    if ("ref" in answered) succeed(answered, asked.id);
    else fail(answered);
  } catch (fault) {
    say("");
    if (!(fault instanceof NoPasskey)) throw fault;
    showProblem({ title: fault.message, detail: fault.detail });
  } finally {
    setBusy(false);
  }
};

const open = () => {
  const fragment = takeFragment();
  if (submit.disabled || (fragment === "" && link !== undefined)) return;
  forget();
  show("registered", false);
  show("invited", false);
  if (fragment === "") {
    return showProblem({
      title: "There is no invitation here",
      detail: "Open the link you were sent once more; this page forgets it when it is loaded again.",
    });
  }
  const found = parseLink(fragment);
  if (found === undefined) {
    return showProblem({
      title: "This link is not complete",
      detail: "Copy it again, from its beginning to its end, or ask for a new one.",
    });
  }
  if (!hasPasskeys()) {
    return showProblem({
      title: "This browser has no passkeys",
      detail: "Open the link in a current browser, and not in a private view inside another program.",
    });
  }
  if (!isOurs(found.asked.rpId)) {
    return showProblem({
      title: "The link has the wrong address",
      detail: `It is for ${found.asked.rpId}, and this page is at ${location.host}. Ask for a link with the right address.`,
    });
  }
  link = found;
  setText("approver", link.asked.id);
  setText("service-name", link.asked.rpName);
  setText("service-id", link.asked.rpId === link.asked.rpName ? "" : `(${link.asked.rpId})`);
  countDown(link.expiresAt);
  showProblem(undefined);
  setTokenProblem("");
  setBusy(false);
  show("invited", true);
};

byId("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!submit.disabled) void enroll();
});

byId("copy").addEventListener("click", () => {
  void navigator.clipboard.writeText(byId("ref").textContent ?? "").then(
    () => say("The ref is copied."),
    () => say("The browser does not let this page copy: select the ref and copy it."),
  );
});

// A second link pasted into the same tab changes nothing but the fragment.
addEventListener("hashchange", open);
addEventListener("pagehide", forget);
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) open();
});
open();
document.documentElement.dataset["ready"] = "";
