/** Enrollment on a test cluster: what registrars and holders send, with an authenticator of the test's own. */
import { Encoding } from "effect";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Offer } from "../../core/commands/enrollPasskey/Offer.ts";
import { OPTIONS_PATH } from "../../core/commands/enrollPasskey/Enrollment.ts";
import { FINISH_PATH } from "../../core/commands/enrollPasskey/Finish.ts";
import type { Settings } from "../../core/protocol/Event.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Rows } from "../../core/Tables.ts";
import type { RelyingParty } from "../../core/webauthn/RelyingParty.ts";
import { type CredentialJson, makeCredential, type Making } from "../webauthn/Authenticator.ts";
import { Cluster } from "./Cluster.ts";

export const relyingParty: RelyingParty = {
  rpId: "localhost",
  rpName: "Test",
  origins: ["http://localhost:8080"],
  registrationTtlMillis: 90_000,
  attestation: "none",
  trustRoots: [],
};

/** A founded cluster with enrollment enabled. */
export const enrolling = (total: number, override: (peerId: PeerId) => Partial<Settings> = () => ({})): Cluster => {
  const cluster = new Cluster(total, (peerId) => ({ relyingParty, ...override(peerId) }));
  cluster.pass(2_000);
  return cluster;
};

/** A request as a caller sends it. */
export const posted = (path: string, body: unknown): Call => ({
  method: "POST",
  path,
  ifMatch: undefined,
  rawBody: utf8ToBytes(JSON.stringify(body)),
});

export const options = (
  cluster: Cluster,
  through: PeerId,
  requestId: string,
  body: unknown = { id: "alice", metadata: { team: "a" } },
): void => cluster.ask(through, requestId, posted(OPTIONS_PATH, body));

/** Asks for options and waits for them. */
export const offerOf = (cluster: Cluster, through: PeerId, requestId: string, id = "alice"): Offer => {
  options(cluster, through, requestId, { id, metadata: { team: "a" } });
  cluster.settle();
  const answer = cluster.answers.get(requestId);
  if (answer?._tag !== "Offered") throw new Error(`options were answered ${JSON.stringify(answer)}`);
  return answer.offer;
};

/** The sessions on a peer's disk. */
export const sessionsOf = (cluster: Cluster, peerId: PeerId): ReadonlyArray<Rows["sessions"]> =>
  [...(cluster.tables.get(peerId)?.get("sessions")?.keys() ?? [])].flatMap(
    (key) => cluster.row(peerId, "sessions", key) ?? [],
  );

/** An honest response to an offer, except for the differences that a test wants. */
export const credential = ({ publicKey }: Offer, making: Partial<Making> = {}): CredentialJson => {
  const decoded = Encoding.decodeBase64Url(publicKey.challenge);
  if (decoded._tag === "Left") throw decoded.left;
  const [origin = ""] = relyingParty.origins;
  return makeCredential({ challenge: decoded.right, origin, rpId: publicKey.rp.id, ...making });
};

export const finish = (
  cluster: Cluster,
  through: PeerId,
  requestId: string,
  invitation: string,
  response: unknown,
): void => cluster.ask(through, requestId, posted(FINISH_PATH, { invitation, credential: response }));
