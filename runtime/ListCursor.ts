/**
 * Where a page begins, as its caller sends it back: opaque unpadded Base64url, good at any peer, and for the filter of
 * the page before alone. It holds nothing that the caller may not see, and grants nothing.
 */
import { base64Url, strictBase64Url } from "../core/codec/Base64Url.ts";
import { list, nullable, oneOf, pair, record, text } from "../core/codec/Codec.ts";
import { utf8Bytes, utf8Text } from "../core/codec/Utf8.ts";
import { type ApproverFilter, credentialTypes } from "../core/commands/approvers/Terms.ts";
import { parseApproverRef } from "../core/credential/ApproverRef.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import { Limits } from "../core/base/Limits.ts";
import { Either } from "effect";

const CURSOR_TAG = "CUSTODY_CURSOR_V1";
const filterCodec = record({
  id: nullable(text(Limits.approverIdCharacters)),
  type: nullable(oneOf(credentialTypes)),
  metadata: list(pair(text(Limits.metadataKeyBytes), text(Limits.metadataValueBytes)), Limits.metadataPairs),
});
const VERSION = "1";
const HEX_DIGITS = 32;
/** The longest: version, digest, and a ref with what may follow it. */
const MOST_BYTES = 1 + HEX_DIGITS + 256;

type Digests = Pick<Crypto, "digest">;

const byName = ([left]: readonly [string, string], [right]: readonly [string, string]): number =>
  left < right ? -1 : 1;

/** The beginning of all cursors of a filter, in whatever order it names metadata. */
const headOf = (crypto: Digests, filter: ApproverFilter): string =>
  VERSION +
  crypto
    .digest(CURSOR_TAG, filterCodec, { ...filter, metadata: filter.metadata.toSorted(byName) })
    .slice(0, HEX_DIGITS);

/** The cursor of the page that begins at `from`. */
export const cursorOf = (crypto: Digests, filter: ApproverFilter, from: string): string =>
  base64Url(utf8Bytes(headOf(crypto, filter) + from));

/** Where the page of a cursor begins; undefined for what is no cursor, and for one of another filter. */
export const startOf = (crypto: Digests, filter: ApproverFilter, cursor: string): string | undefined => {
  const bytes = strictBase64Url(cursor, MOST_BYTES);
  const content = bytes && utf8Text(bytes);
  const head = headOf(crypto, filter);
  if (content?.startsWith(head) !== true) return undefined;
  const from = content.slice(head.length);
  // A space after a ref means: behind it.
  return Either.isRight(parseApproverRef(from.endsWith(" ") ? from.slice(0, -1) : from)) ? from : undefined;
};
