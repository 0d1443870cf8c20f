/** The passkeys an id has already at a relying party, so that its authenticators make no second one. */
import { Either } from "effect";
import { parseStrictJson } from "../codec/StrictJson.ts";
import { utf8Bytes } from "../codec/Utf8.ts";
import type { RowView } from "../Tables.ts";
import type { Session } from "./Session.ts";

const PAGE = 64;

/** The credential id in a descriptor of a passkey at this relying party, unpadded Base64url; undefined for any other. */
const credentialIdIn = (descriptor: string, rpId: string): string | undefined => {
  const parsed = Either.getOrUndefined(parseStrictJson(utf8Bytes(descriptor)));
  if (!(parsed instanceof Map) || parsed.get("type") !== "WEBAUTHN" || parsed.get("rpId") !== rpId) return undefined;
  const credentialId = parsed.get("credentialId");
  return typeof credentialId === "string" ? credentialId : undefined;
};

/** Of every version of the session's id, in the order of their refs. */
export const knownCredentials = (view: RowView, { id, rpId }: Pick<Session, "id" | "rpId">): ReadonlyArray<string> => {
  const known: Array<string> = [];
  // The refs of one id lie together: no id holds an @.
  const prefix = `${id}@`;
  for (let after = prefix; ; ) {
    const page = view.scan("approvers", after, PAGE);
    for (const { key, row } of page) {
      if (!key.startsWith(prefix)) return known;
      const credentialId = credentialIdIn(row.descriptor, rpId);
      if (credentialId !== undefined) known.push(credentialId);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return known;
    after = last.key;
  }
};
