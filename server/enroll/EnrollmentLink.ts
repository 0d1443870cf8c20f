/** The link by which a holder is invited: the page, and after # the part that no server is ever sent. */
import { isLoopbackHost } from "../config/Loopback.ts";
import { isUnder } from "../config/RelyingPartySetting.ts";
import { ENROLL_PATH } from "./EnrollmentPage.ts";

/** The parts of the options call's answer that the link holds. */
export interface Invited {
  readonly invitation: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** The creation options in JSON. */
  readonly publicKey: unknown;
}

/**
 * The link, a secret as long as the invitation is good.
 *
 * @param origin one of the relying party's
 */
export const enrollmentLink = (origin: string, { invitation, expiresAt, publicKey }: Invited): string => {
  const json = JSON.stringify({ invitation, expiresAt, publicKey });
  return `${origin}${ENROLL_PATH}#${Buffer.from(json, "utf8").toString("base64url")}`;
};

/**
 * The origin at which a peer's own address is opened in a browser.
 *
 * @param address scheme, host and port of the peer
 * @returns `localhost` for a peer of this machine that enrolls for `localhost`; undefined for an address that is not
 *   under the RP ID, since it is unknown how browsers reach it
 */
export const originAt = (address: string, rpId: string): string | undefined => {
  const { protocol, hostname, port } = new URL(address);
  const isHere = rpId === "localhost" && isLoopbackHost(hostname);
  const origin = isHere ? `${protocol}//localhost${port === "" ? "" : `:${port}`}` : address;
  return isUnder(origin, rpId) ? origin : undefined;
};
