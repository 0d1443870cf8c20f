/**
 * Origins as a relying party may list them (contract 4.1.3), in the one form in
 * which browsers report them in clientDataJSON: lower case, ASCII, no default
 * port. They are compared as text, so that there is nothing to normalize.
 */
import { Either } from "effect";
import { utf8Length } from "../codec/Utf8.ts";

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LONGEST_DOMAIN = 253;
const DEFAULT_PORT = { https: 443, http: 80 } as const;

/**
 * Whether a text is a domain as a browser writes it: lower-case letters, digits and hyphens, international names in
 * their `xn--` form. An address of four numbers is none, for an RP ID cannot be one (WebAuthn Level 3 section 5.1.3
 * step 8). Whether the domain is a public suffix such as `co.uk` is not looked up; browsers refuse those.
 */
const isDomain = (text: string): boolean => {
  const labels = text.split(".");
  return (
    text.length <= LONGEST_DOMAIN && labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? "")
  );
};

/** What is wrong with the text of a domain, or undefined. */
export const domainFault = (text: string): string | undefined => {
  if (isDomain(text)) return undefined;
  if (utf8Length(text) !== text.length) return "is not ASCII; write an international name in its xn-- form";
  if (/[A-Z]/.test(text)) return "has upper-case letters; write the domain in lower case";
  if (text.endsWith(".")) return "ends with a dot; leave it out";
  if (text.includes("*")) return "has a wildcard; name one domain";
  if (/^[\d.]+$/.test(text) || /[:[\]]/.test(text)) return "is an address or has a port; name a domain";
  return "is not a domain; write it as in example.org";
};

/** Parts of RFC 3986 that no origin has, each with what to do about it; in the order in which they are looked for. */
const foreignParts: ReadonlyArray<readonly [pattern: RegExp, fault: string]> = [
  [/\*/, "has a wildcard; list every origin by itself"],
  [/@/, "has credentials; leave them out"],
  [/\?/, "has a query; end the origin after the host and port"],
  [/#/, "has a fragment; end the origin after the host and port"],
  [/^[a-z]+:\/\/[^/]*[/\\]/i, "has a path; end the origin after the host and port, without a slash"],
  [/\s/, "has white space; leave it out"],
];

/**
 * Checks one configured origin.
 *
 * @param rpId the RP ID, a domain as {@link domainFault} takes it
 * @param text the origin as configured
 * @returns the same text; or what is wrong and what to do
 */
export const originUnder = (rpId: string, text: string): Either.Either<string, string> => {
  const foreign = foreignParts.find(([pattern]) => pattern.test(text));
  if (foreign !== undefined) return Either.left(foreign[1]);
  const [, scheme, host = "", port] = /^(https?):\/\/([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  if (scheme !== "https" && scheme !== "http")
    return Either.left("is not an origin; write it as in https://example.org");
  const fault = domainFault(host);
  if (fault !== undefined) return Either.left(`names a host that ${fault}`);
  if (scheme === "http" && host !== "localhost") return Either.left("is http; only localhost may be, for development");
  const badPort = port === undefined ? undefined : portFault(port, DEFAULT_PORT[scheme]);
  if (badPort !== undefined) return Either.left(badPort);
  const isUnder = host === rpId || host.endsWith(`.${rpId}`);
  return isUnder
    ? Either.right(text)
    : Either.left("is not under the RP ID; its host must be rp-id or end with .rp-id");
};

const portFault = (port: string, defaultPort: number): string | undefined => {
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535) return "has a port that is none; write 1 to 65535";
  return Number(port) === defaultPort
    ? "has the port that its scheme implies; leave it out, as browsers do"
    : undefined;
};
