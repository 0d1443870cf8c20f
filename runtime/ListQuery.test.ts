import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { type ListQuery, parseListQuery } from "./ListQuery.ts";
import type { QueryFaults } from "./Query.ts";

const read = (query: string): ListQuery =>
  Either.getOrThrowWith(parseListQuery(query), (faults) => new Error(JSON.stringify(faults)));

const refused = (query: string): QueryFaults =>
  Either.match(parseListQuery(query), { onLeft: (faults) => faults, onRight: () => expect.fail(query) });

const faultsOf = (query: string): ReadonlyArray<string> =>
  refused(query).map(({ parameter, code }) => `${parameter} ${code}`);

const pairs = (count: number): string => Array.from({ length: count }, (_, index) => `metadata.k${index}=v`).join("&");

describe("the query of a list", () => {
  it("wants everything where it says nothing, fifty at a time", () => {
    const filter = { id: undefined, type: undefined, metadata: [] };
    expect(read("")).toEqual({ filter, limit: 50, cursor: undefined });
  });

  it("is read in every parameter, percent-encoded or with plus signs", () => {
    const query = "id=a.b-c_D&type=WEBAUTHN&metadata.te%61m=p%26y%2B&metadata.with+space=%C3%BC&limit=200&cursor=AbC";
    const metadata = [
      ["team", "p&y+"],
      ["with space", "ü"],
    ];
    expect(read(query)).toEqual({ filter: { id: "a.b-c_D", type: "WEBAUTHN", metadata }, limit: 200, cursor: "AbC" });
  });

  it("takes names and values at their bounds", () => {
    const key = "ü".repeat(32);
    const value = "é".repeat(256);
    const { filter } = read(`metadata.${encodeURIComponent(key)}=${encodeURIComponent(value)}&limit=1`);
    expect(filter.metadata).toEqual([[key, value]]);
    expect(read("metadata.a.b=").filter.metadata).toEqual([["a.b", ""]]);
    expect(read(pairs(32)).filter.metadata).toHaveLength(32);
    expect(read(`id=${"a".repeat(128)}`).filter.id).toHaveLength(128);
  });

  it.each([
    ["unknown", "ID=a", ["#1 unknown_parameter"]],
    ["another known one", "limit=2&order=asc", ["#2 unknown_parameter"]],
    ["metadata without a dot", "metadata=a", ["#1 unknown_parameter"]],
    ["repeated", "limit=2&limit=2", ["limit repeated"]],
    ["repeated under another encoding", "metadata.a=1&metadata.%61=1", ["metadata #2 repeated"]],
    ["repeated three times", "id=a&id=a&id=b", ["id repeated", "id repeated"]],
    ["without a value", "limit", ["#1 malformed"]],
    ["without a name", "=1", ["#1 malformed"]],
    ["nothing between two", "limit=1&&id=a", ["#2 malformed"]],
    ["nothing at the end", "limit=1&", ["#2 malformed"]],
    ["cut off in its encoding", "id=%4", ["#1 malformed_encoding"]],
    ["no UTF-8", "metadata.a=%ff", ["#1 malformed_encoding"]],
    ["overlong UTF-8", "metadata.%c0%80=a", ["#1 malformed_encoding"]],
    ["a surrogate", "metadata.a=%ed%a0%80", ["#1 malformed_encoding"]],
    ["not encoded", "metadata.ü=a", ["#1 malformed_encoding"]],
    ["an empty id", "id=", ["id invalid_value"]],
    ["an id of other characters", "id=a%40b", ["id invalid_value"]],
    ["too long an id", `id=${"a".repeat(129)}`, ["id invalid_value"]],
    ["another type", "type=signature", ["type invalid_value"]],
    ["an empty cursor", "cursor=", ["cursor invalid_value"]],
    ["an empty key", "metadata.=a", ["metadata #1 invalid_value"]],
    ["too long a key", `metadata.${"a".repeat(65)}=a`, ["metadata #1 invalid_value"]],
    ["too long a value", `metadata.a=${"a".repeat(513)}`, ["metadata #1 invalid_value"]],
    ["too many pairs", pairs(33), ["metadata too_many"]],
  ])("is refused where a parameter is %s", (_name, query, faults) => {
    expect(faultsOf(query)).toEqual(faults);
  });

  it.each(["0", "201", "-1", "+1", "01", "1.0", "1e1", "", "50 ", "%31%30%30%30"])(
    "is refused with the limit %j",
    (limit) => {
      expect(faultsOf(`limit=${encodeURIComponent(limit)}`)).toEqual(["limit invalid_value"]);
    },
  );

  it("is refused for all its faults at once, and none of them holds what was sent", () => {
    const secret = "s3cr3t";
    const faults = refused(`${secret}=1&${secret}&id=${secret}%20&metadata.${secret.repeat(20)}=${secret}`);
    expect(faults).toHaveLength(4);
    expect(JSON.stringify(faults)).not.toContain(secret);
    expect(refused("&".repeat(10_000))).toHaveLength(64);
  });
});
