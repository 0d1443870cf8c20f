/** The passkeys that an id already has at a relying party, so that its authenticators make no second one. */
import { Either } from "effect";
import { parseStrictJson } from "../../codec/StrictJson.ts";
import { utf8Bytes } from "../../codec/Utf8.ts";
import type { Capacities } from "../../base/Capacities.ts";
import type { RowView } from "../../protocol/Tables.ts";
import { approverRows } from "../approvers/Tables.ts";
import type { Session } from "./Session.ts";

const PAGE = 64;

/** The credential id of a passkey's descriptor at this relying party, unpadded Base64url; undefined for others. */
const credentialIdIn = (descriptor: string, rpId: string): string | undefined => {
  const parsed = Either.getOrUndefined(parseStrictJson(utf8Bytes(descriptor)));
  if (!(parsed instanceof Map) || parsed.get("type") !== "WEBAUTHN" || parsed.get("rpId") !== rpId) return undefined;
  const credentialId = parsed.get("credentialId");
  return typeof credentialId === "string" ? credentialId : undefined;
};

/**
 * Of the versions of the session's id, in the order of their refs. This spares a person a second passkey on one device
 * and protects nothing, as (rpId, credentialId) is unique anyway; so it stops after `excludedVersions`
 * versions of one id, rather than keep a step busy with them.
 */
export const knownCredentials = (
  view: RowView,
  { id, rpId }: Pick<Session, "id" | "rpId">,
  { excludedVersions }: Pick<Capacities, "excludedVersions">,
): ReadonlyArray<string> => {
  const known: Array<string> = [];
  // The refs of one id are adjacent: no id contains an @.
  const prefix = `${id}@`;
  let after = prefix;
  for (let seen = 0; seen < excludedVersions; seen += PAGE) {
    const wanted = Math.min(PAGE, excludedVersions - seen);
    const page = approverRows(view).scan("approvers", after, wanted);
    for (const { key, row } of page) {
      if (!key.startsWith(prefix)) return known;
      const credentialId = credentialIdIn(row.descriptor, rpId);
      if (credentialId !== undefined) known.push(credentialId);
      after = key;
    }
    if (page.length < wanted) return known;
  }
  return known;
};
