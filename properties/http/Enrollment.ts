/** What tests of enrollment share: a cluster where it is on, and links as the command line prints them. */
import { ServerCluster } from "./ServerCluster.ts";

/** The origin of one peer, as a browser is sent there. */
export const originOf = (cluster: ServerCluster, id: number): string =>
  `http://localhost:${new URL(cluster.server(id).url).port}`;

/** Configuration of a relying party on localhost, with every peer as an origin. `more` is YAML for the same section. */
export const enrolling =
  (more = "") =>
  (ports: ReadonlyArray<number>): string =>
    `webauthn: {enabled: true, rp-id: localhost, rp-name: Test Custody, origins: [${ports
      .map((port) => `"http://localhost:${port}"`)
      .join(", ")}]${more === "" ? "" : `, ${more}`}}`;

/** What an enrollment link holds. */
export interface Invitation {
  readonly invitation: unknown;
  readonly expiresAt: unknown;
  readonly publicKey: unknown;
}

/** The link of an invitation, at an origin. */
export const linkOf = (origin: string, { invitation, expiresAt, publicKey }: Invitation): string => {
  const json = JSON.stringify({ invitation, expiresAt, publicKey });
  return `${origin}/enroll#${Buffer.from(json).toString("base64url")}`;
};
