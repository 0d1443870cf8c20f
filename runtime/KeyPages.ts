/** Pages of keys, ascending by id: filtered while they are read, so that each page costs a bounded number of rows. */
import { Either } from "effect";
import { type Rejection } from "../core/base/Rejection.ts";
import { Limits } from "../core/base/Limits.ts";
import { base64Url, strictBase64Url } from "../core/codec/Base64Url.ts";
import { nullable, oneOf, record, text } from "../core/codec/Codec.ts";
import { utf8Bytes, utf8Text } from "../core/codec/Utf8.ts";
import { isAssetOwner } from "../core/commands/keys/KeyBodies.ts";
import { isKeyId } from "../core/commands/keys/KeyId.ts";
import { type Key, keyStatuses } from "../core/commands/keys/KeyRecord.ts";
import { generationKey, keyRows } from "../core/commands/keys/Tables.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { CatalogPorts } from "./IdentityCatalog.ts";
import { type ReadKey, shownKey } from "./KeyReads.ts";
import { type QueryFaults, type QueryRules, readQuery, wholeNumber, wholeNumberFault } from "./Query.ts";
import { damaged, guarded, readRefusal } from "./Reads.ts";

/** Items of a page, and those where none are asked for. */
export const keyPageBounds = { limit: 200, usualLimit: 50 } as const;
/** Keys looked at for one page. */
const EXAMINED = 1_000;
/** Keys looked at before other work may go on: a few milliseconds. */
const SLICE = 16;

export interface KeyFilter {
  readonly assetOwner: string | undefined;
  readonly status: Key["status"] | undefined;
}

export interface KeyQuery {
  readonly filter: KeyFilter;
  readonly limit: number;
  readonly cursor: string | undefined;
}

const statusIn = (value: string): KeyFilter["status"] => keyStatuses.find((each) => each === value);

const rules: QueryRules = {
  named: {
    limit: (value) => wholeNumberFault(value, keyPageBounds.limit),
    cursor: (value) => (value === "" ? "This is the nextCursor of a page." : undefined),
    assetOwner: (value) => (isAssetOwner(value) ? undefined : "This is not an owner's id."),
    status: (value) => (statusIn(value) === undefined ? `This is one of ${keyStatuses.join(", ")}.` : undefined),
  },
};

/** Reads what follows the question mark; Left names every fault. */
export const parseKeyQuery = (query: string): Either.Either<KeyQuery, QueryFaults> =>
  Either.map(readQuery(query, rules), (given) => {
    const values = new Map(given.map(({ name, value }) => [name, value]));
    return {
      filter: { assetOwner: values.get("assetOwner"), status: statusIn(values.get("status") ?? "") },
      limit: wholeNumber(values.get("limit") ?? "", keyPageBounds.limit) ?? keyPageBounds.usualLimit,
      cursor: values.get("cursor"),
    };
  });

const CURSOR_TAG = "CUSTODY_KEY_CURSOR_V1";
const HEX_DIGITS = 32;
const filterCodec = record({
  assetOwner: nullable(text(Limits.authorityIdCharacters)),
  status: nullable(oneOf(keyStatuses)),
});

/** The beginning of all cursors of a filter. */
const headOf = (crypto: Pick<Crypto, "digest">, filter: KeyFilter): string =>
  crypto.digest(CURSOR_TAG, filterCodec, filter).slice(0, HEX_DIGITS);

/** The cursor of the page behind a key: good at any peer, for the same filter alone. */
export const keyCursorOf = (crypto: Pick<Crypto, "digest">, filter: KeyFilter, last: string): string =>
  base64Url(utf8Bytes(headOf(crypto, filter) + last));

/** The key behind which the page of a cursor begins; undefined for what is no cursor of this filter. */
export const keyCursorIn = (crypto: Pick<Crypto, "digest">, filter: KeyFilter, cursor: string): string | undefined => {
  const bytes = strictBase64Url(cursor, HEX_DIGITS + Limits.keyIdCharacters);
  const content = bytes && utf8Text(bytes);
  const head = headOf(crypto, filter);
  if (content?.startsWith(head) !== true) return undefined;
  const last = content.slice(head.length);
  return isKeyId(last) ? last : undefined;
};

/** Comes right after a key id, and before the first one. */
const AFTER = "\u0000";

const isWanted = ({ assetOwner, status }: KeyFilter, key: Key): boolean =>
  (assetOwner === undefined || key.assetOwner === assetOwner) && (status === undefined || key.status === status);

const itemOf = (ports: CatalogPorts, filter: KeyFilter, keyId: string): Either.Either<ReadKey | undefined, Rejection> =>
  guarded(ports, () => {
    const rows = keyRows(ports.view);
    const key = rows.get("custodyKeys", keyId);
    if (key === undefined || !isWanted(filter, key)) return Either.right(undefined);
    const generation = rows.get("generations", generationKey(keyId, key.generation));
    return generation === undefined ? Either.left(damaged) : Either.right(shownKey(ports, key, generation));
  });

const pageRefusal = ({ state }: CatalogPorts): Rejection | undefined =>
  // Damaged rows may be lost ones, and a list could not tell.
  readRefusal(state) ?? (state.fitness.integrityFault === undefined ? undefined : damaged);

/**
 * One page: yields its keys in slices between which something else may be done; whether this peer may answer is judged
 * anew with each.
 *
 * @param ports those of this moment
 * @param from the key behind which the page begins; empty for the first page
 * @returns right is the last key that was looked at where there may be more; left as exact reads
 */
export function* keyPage(
  ports: () => CatalogPorts,
  { filter, limit }: KeyQuery,
  from: string,
): Generator<ReadonlyArray<ReadKey>, Either.Either<string | undefined, Rejection>> {
  let last = from;
  let found = 0;
  for (let examined = 0; examined < EXAMINED; examined += SLICE) {
    const now = ports();
    const refusal = pageRefusal(now);
    if (refusal !== undefined) return Either.left(refusal);
    const slice: Array<ReadKey> = [];
    const page = guarded(now, () => Either.right(now.view.keys("custodyKeys", last + AFTER, SLICE)));
    if (Either.isLeft(page)) return Either.left(page.left);
    const keyIds = page.right;
    for (const keyId of keyIds) {
      if (found === limit) break;
      const item = itemOf(now, filter, keyId);
      if (Either.isLeft(item)) return Either.left(item.left);
      last = keyId;
      if (item.right === undefined) continue;
      slice.push(item.right);
      found += 1;
    }
    yield slice;
    const isFull = found === limit && last !== keyIds.at(-1);
    if (keyIds.length < SLICE && !isFull) return Either.right(undefined);
    if (found === limit) return Either.right(last);
  }
  return Either.right(last);
}
