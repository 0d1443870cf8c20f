/**
 * A writer that lies about the enrollment sessions it asks others to keep: about the registrar, the deadline, the
 * secrets, what was asked for and by whom; that opens a session under a token it has only seen; and that asks for
 * many sessions in the name of one request.
 */
import { absurd } from "effect";
import type { Digest } from "../../core/base/Digest.ts";
import type { Session } from "../../core/commands/enrollPasskey/Session.ts";
import type { Message } from "../../core/Message.ts";
import type { MirrorItem } from "../../core/commands/enrollPasskey/SessionMessages.ts";
import type { Unit } from "../base/Choices.ts";
import type { Lie, Traitor } from "./Traitor.ts";

const FOREIGN = "d".repeat(64) as Digest;
/** Sessions it asks for in the name of one request, at most. */
const MOST_COPIES = 8;
/** Sessions it asks for in one message. */
const PART = 4;

type Falsify = (session: Session) => Partial<Session>;

const bent = (secret: Uint8Array): Uint8Array => secret.map((byte) => byte ^ 1);

const falsehoods: readonly [Falsify, ...ReadonlyArray<Falsify>] = [
  ({ registrar }) => ({ registrar: { ...registrar, sub: "mallory" } }),
  ({ registrar }) => ({ registrar: { ...registrar, jti: "j1" } }),
  ({ expiresAt }) => ({ expiresAt: expiresAt + 60_000 }),
  ({ expiresAt }) => ({ expiresAt: expiresAt - 1_000 }),
  ({ createdAt, expiresAt }) => ({ createdAt: createdAt + 20_000, expiresAt: expiresAt + 20_000 }),
  // Only the writer knows what these were to be: each member keeps what it was shown, and they do not agree.
  ({ challenge }) => ({ challenge: bent(challenge) }),
  ({ userHandle }) => ({ userHandle: bent(userHandle) }),
  ({ challenge }) => ({ challenge: challenge.slice(1) }),
  () => ({ id: "mallory" }),
  () => ({ metadata: [["team", "mallory"]] }),
  () => ({ rpId: "evil.example" }),
  () => ({ origins: ["https://evil.example"] }),
  ({ request }) => ({ request: { ...request, bodyDigest: FOREIGN } }),
  ({ entryPeer, writer }) => ({ entryPeer: entryPeer === writer ? writer + 1 : writer }),
  ({ incarnations }) => ({ incarnations: incarnations.map((each, index) => (index === 0 ? each + 1 : each)) }),
  () => ({ configDigest: FOREIGN }),
];

const falsified = (unit: Unit, { session, evidence }: MirrorItem): MirrorItem => {
  const falsify = falsehoods[unit.between("lie number", 0, 0, falsehoods.length - 1)] ?? falsehoods[0];
  return { session: { ...session, ...falsify(session) }, evidence };
};

/** As if the request had come to the writer itself, under a token that it was sent for something else. */
const underStolenToken = (traitor: Traitor, unit: Unit, { session, evidence }: MirrorItem): MirrorItem => {
  const stolen = traitor.heard[unit.between("token", 0, 0, Math.max(0, traitor.heard.length - 1), 0, MOST_COPIES)];
  const check = stolen && traitor.world.commands.judge(stolen.token);
  if (stolen === undefined || check?._tag !== "Verified") return falsified(unit, { session, evidence });
  const { iss, sub, jti } = check.claims;
  const { writer } = session;
  traitor.world.marks.add("a writer opened a session under a stolen token");
  return {
    session: { ...session, entryPeer: writer, registrar: { iss, sub, jti } },
    evidence: { ...evidence, entryPeer: writer, attestation: undefined, token: stolen.token },
  };
};

/** The same request again and again, each time for another session. */
const copies = (traitor: Traitor, unit: Unit, item: MirrorItem): ReadonlyArray<MirrorItem> => {
  const { crypto } = traitor.world.cryptography;
  const count = unit.between("copies", 1, 1, MOST_COPIES);
  return Array.from({ length: count }, (_, index) => {
    if (index === 0) return item;
    const registrationId = crypto.sha256OfText(`${item.session.registrationId} ${index}`);
    return { ...item, session: { ...item.session, registrationId } };
  });
};

const lies = ["about the session", "under a stolen token", "many times"] as const;

/** Lies to one member or to all, about some sessions. */
export const lyingSessionWriter = (): Lie => (traitor, _to, message) => {
  if (message._tag !== "Session.Mirror") return [message];
  const items = message.items.flatMap((item): ReadonlyArray<MirrorItem> => {
    const unit = traitor.next();
    if (!unit.chance("lies", 400)) return [item];
    traitor.world.marks.add("a writer lied about a session");
    const lie = unit.named("lies", "about the session", lies, [2, 1, 2]);
    switch (lie) {
      case "about the session":
        return [falsified(unit, item)];
      case "under a stolen token":
        return [underStolenToken(traitor, unit, item)];
      case "many times":
        return copies(traitor, unit, item);
      default:
        return absurd(lie);
    }
  });
  // Parts of a few, so that a request comes again when some of its sessions are kept.
  const messages: Array<Message> = [];
  for (let from = 0; from < items.length; from += PART)
    messages.push({ ...message, items: items.slice(from, from + PART) });
  return messages;
};
