/** The query of a list (contract 4.1.1). */
import { Either } from "effect";
import { utf8Length } from "../core/codec/Utf8.ts";
import { type ApproverFilter, credentialTypes } from "../core/commands/approvers/Terms.ts";
import { isApproverId } from "../core/credential/ApproverId.ts";
import { Limits } from "../core/base/Limits.ts";
import { type QueryFaults, type QueryRules, readQuery, wholeNumber, wholeNumberFault } from "./Query.ts";

/** Items of a page, and those where none are asked for. */
export const listBounds = { limit: 200, usualLimit: 50 } as const;
const METADATA = "metadata";

export interface ListQuery {
  readonly filter: ApproverFilter;
  readonly limit: number;
  readonly cursor: string | undefined;
}

const typeIn = (value: string): ApproverFilter["type"] => credentialTypes.find((type) => type === value);

const metadataFault = (key: string, value: string): string | undefined => {
  const keyBytes = utf8Length(key) ?? 0;
  if (keyBytes === 0) return "The key after the dot takes at least 1 byte.";
  if (keyBytes > Limits.metadataKeyBytes) return `A key takes at most ${Limits.metadataKeyBytes} bytes of UTF-8.`;
  if ((utf8Length(value) ?? 0) <= Limits.metadataValueBytes) return undefined;
  return `A value takes at most ${Limits.metadataValueBytes} bytes of UTF-8.`;
};

const rules: QueryRules = {
  named: {
    id: (value) => (isApproverId(value) ? undefined : "This is not an approver's id."),
    type: (value) => (typeIn(value) === undefined ? `This is one of ${credentialTypes.join(", ")}.` : undefined),
    limit: (value) => wholeNumberFault(value, listBounds.limit),
    cursor: (value) => (value === "" ? "This is the nextCursor of a page." : undefined),
  },
  pairs: { of: METADATA, most: Limits.metadataPairs, fault: metadataFault },
};

/**
 * Reads what follows the question mark. The cursor is only known not to be empty.
 *
 * @returns the filter, with the limit 50 where none is given; or every fault of the query
 */
export const parseListQuery = (query: string): Either.Either<ListQuery, QueryFaults> =>
  Either.map(readQuery(query, rules), (given) => {
    const values = new Map(given.map(({ name, value }) => [name, value]));
    return {
      filter: {
        id: values.get("id"),
        type: typeIn(values.get("type") ?? ""),
        metadata: given.flatMap(({ name, value }) =>
          name.startsWith(`${METADATA}.`) ? [[name.slice(METADATA.length + 1), value] as const] : [],
        ),
      },
      limit: wholeNumber(values.get("limit") ?? "", listBounds.limit) ?? listBounds.usualLimit,
      cursor: values.get("cursor"),
    };
  });
