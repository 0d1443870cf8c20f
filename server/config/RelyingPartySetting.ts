/**
 * The relying party of passkeys (contract 4.1.3): its ID, its name, its origins,
 * and which origins may stand under which ID. ID and origins are public, so a
 * refusal names the value; the one exception is a value that could hold a password.
 */
import { isIP } from "node:net";
import { Either, Schema } from "effect";
import { decoded } from "./Setting.ts";

const shownCharacters = 128;

/** A refused value as it may be shown: on one line, cut, and not at all where credentials could be in it. */
const shown = (text: string): string =>
  text.includes("@") ? "the value" : JSON.stringify(text.slice(0, shownCharacters));

/** Labels of letters, digits and inner hyphens, in lower case, as `URL` shows a host (RFC 1123 2.1, RFC 5891 4.4). */
const domain = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

const isDomain = (text: string): boolean =>
  domain.test(text) &&
  isIP(text) === 0 &&
  URL.canParse(`https://${text}`) &&
  new URL(`https://${text}`).hostname === text;

/** An RP ID: a domain name as browsers compare it (WebAuthn Level 3 4, "Relying Party Identifier"). */
export const RpId = decoded(
  "must be a domain name; write for example custody.example.com",
  (text) =>
    isDomain(text)
      ? Either.right(text)
      : Either.left(
          `${shown(text)} is not a domain name in lower case; write it without scheme, port or address, for example custody.example.com`,
        ),
  Schema.String,
);

const rpName =
  "must be one line of 1 to 256 printable characters, none of them invisible; quote it if it looks like a number";

/**
 * The name that browsers and the page show. The page takes no other from a link (`server/enroll/page/Link.js`): with an
 * invisible character, one name can look like another.
 */
export const RpName = decoded(
  rpName,
  (text) => (/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,256}$/u.test(text) ? Either.right(text) : Either.left(rpName)),
  Schema.String,
);

/** What keeps a text from being an exact origin; undefined when it is one. */
const originFault = (text: string): string | undefined => {
  if (text.includes("*")) return "holds a wildcard; list every origin by itself";
  if (!URL.canParse(text)) return "is not an origin; write for example https://custody.example.com";
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") return "holds credentials; remove them";
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return "does not begin with https://; write such an origin";
  if (url.protocol === "http:" && url.hostname !== "localhost")
    return "has no TLS, which only http://localhost may lack; use https://";
  if (text.includes("#")) return "holds a fragment; remove the part from # on";
  if (text.includes("?")) return "holds a query; remove the part from ? on";
  if (url.pathname !== "/") return "holds a path; keep scheme, host and port";
  return text === url.origin ? undefined : `is not written as browsers send it; write ${JSON.stringify(url.origin)}`;
};

/** An exact origin as browsers serialize it (RFC 6454 6.2): https, or http for `localhost` and nothing else. */
export const Origin = decoded(
  "must be an origin; write for example https://custody.example.com",
  (text) => {
    const fault = originFault(text);
    return fault === undefined ? Either.right(text) : Either.left(`${shown(text)} ${fault}`);
  },
  Schema.String,
);

/**
 * Whether a page of this origin may use this RP ID (WebAuthn Level 3 5.1.3, step 8).
 * An ID of one label, such as `localhost`, has nothing below it.
 */
export const isUnder = (origin: string, rpId: string): boolean => {
  const { hostname } = new URL(origin);
  return hostname === rpId || (rpId.includes(".") && hostname.endsWith(`.${rpId}`));
};

/** Why an origin does not go with the RP ID; undefined when it does. */
export const outsideFault = (origin: string, rpId: string): string | undefined =>
  isUnder(origin, rpId)
    ? undefined
    : `${shown(origin)} is not under the rp-id ${shown(rpId)}; remove it or correct webauthn.rp-id`;
