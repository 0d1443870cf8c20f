/** Lists of approvers over HTTP (contract 4.1.1), through three peers. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Enrollees, enrollingElsewhere } from "./Enrollment.ts";
import { type Answered, freshKey64, registration, ServerCluster } from "./ServerCluster.ts";

const PATH = "/v1/custody/approvers";

interface Version {
  readonly ref: string;
  /** The record as the exact read gives it. */
  readonly text: string;
}

let cluster: ServerCluster;
/** All that is registered, by ref. */
let versions: ReadonlyArray<Version>;
beforeAll(async () => {
  cluster = await ServerCluster.found(3, enrollingElsewhere());
  const made: Array<Answered> = [];
  const teams = ["a", "b"];
  for (let at = 0; at < 12; at++) {
    const metadata = { team: teams[at % 2] ?? "", site: `s${at % 3}`, "key &+ü": "" };
    made.push(await cluster.register((at % 3) + 1, registration(`id-${at % 4}`, freshKey64(), metadata)));
  }
  const enrollees = new Enrollees(cluster);
  const offer = await enrollees.options(2, { id: "id-1", metadata: { team: "a" } });
  const { invitation } = offer;
  made.push(await enrollees.finish(3, { invitation, credential: enrollees.credential(offer, "key") }));
  const replaced = await cluster.replace(3, String(made[0]?.json["ref"]), '"1"', { metadata: { team: "moved" } });
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
  versions = [...made.slice(1), replaced]
    .map(({ text, json }) => ({ ref: String(json["ref"]), text }))
    .toSorted((left, right) => (left.ref < right.ref ? -1 : 1));
});
afterAll(async () => {
  await cluster.close();
});

const list = (through: number, query = ""): Promise<Answered> => cluster.get(through, `${PATH}${query}`);

const pageOf = (texts: ReadonlyArray<string>, nextCursor: unknown = null): string =>
  `{"items":[${texts.join(",")}],"nextCursor":${JSON.stringify(nextCursor)}}`;

const textsWhere = (isWanted: (record: ReturnType<typeof JSON.parse>) => boolean): ReadonlyArray<string> =>
  versions.filter(({ text }) => isWanted(JSON.parse(text))).map(({ text }) => text);

const errorsOf = ({ status, json }: Answered): unknown => [status, json["code"], json["errors"]];

describe("a list", () => {
  it("is every version by full ref, in the bytes of the exact read, the same from every peer", async () => {
    for (const through of [1, 2, 3]) {
      const { status, text, headers } = await list(through);
      expect([status, text]).toEqual([200, pageOf(versions.map((each) => each.text))]);
      expect(headers.get("content-type")).toBe("application/json");
      expect(headers.get("cache-control")).toBe("no-store");
    }
    for (const { ref, text } of versions) expect((await cluster.read(2, ref)).text).toBe(text);
  });

  it.each<readonly [string, (record: ReturnType<typeof JSON.parse>) => boolean]>([
    ["id=id-1", ({ id }) => id === "id-1"],
    ["id=id", () => false],
    ["type=WEBAUTHN", ({ credential }) => credential.type === "WEBAUTHN"],
    ["type=SIGNATURE&id=id-1", ({ id, credential }) => credential.type === "SIGNATURE" && id === "id-1"],
    ["metadata.team=a", ({ metadata }) => metadata.team === "a"],
    ["metadata.team=moved", ({ metadata }) => metadata.team === "moved"],
    ["metadata.team=A", () => false],
    ["metadata.site=s1&metadata.team=b", ({ metadata }) => metadata.site === "s1" && metadata.team === "b"],
    ["metadata.team=b&metadata.site=s1", ({ metadata }) => metadata.site === "s1" && metadata.team === "b"],
    ["metadata.key+%26%2B%C3%BC=", ({ metadata }) => metadata["key &+ü"] === ""],
    [
      "id=id-3&type=SIGNATURE&metadata.team=b&metadata.site=s0",
      ({ id, metadata }) => id === "id-3" && metadata.team === "b" && metadata.site === "s0",
    ],
  ])("filtered by %s has what the filter says and nothing else", async (query, isWanted) => {
    for (const through of [1, 3]) expect((await list(through, `?${query}`)).text).toBe(pageOf(textsWhere(isWanted)));
  });

  it.each(["", "type=SIGNATURE&", "metadata.team=a&metadata.key%20%26%2B%C3%BC=&"])(
    "with %j comes in pages of any size, each through another peer, every version once",
    async (filter) => {
      const whole = await list(1, `?${filter}limit=200`);
      const items = whole.json["items"] as ReadonlyArray<unknown>;
      for (const limit of [1, 3, items.length, items.length + 1]) {
        const seen: Array<unknown> = [];
        let cursor = "";
        for (let page = 0; ; page++) {
          const { status, json } = await list((page % 3) + 1, `?${filter}limit=${limit}${cursor}`);
          expect(status).toBe(200);
          seen.push(...(json["items"] as ReadonlyArray<unknown>));
          if (json["nextCursor"] === null) break;
          expect(json["items"]).toHaveLength(limit);
          expect(json["nextCursor"]).toMatch(/^[A-Za-z0-9_-]+$/);
          cursor = `&cursor=${String(json["nextCursor"])}`;
        }
        expect(seen).toEqual(items);
      }
    },
  );

  it("goes on behind the last item, whatever has been registered since", async () => {
    const first = await list(1, "?limit=2&id=growing");
    expect(first.text).toBe(pageOf([]));
    await cluster.register(1, registration("growing", freshKey64(), { in: "time" }));
    await cluster.register(2, registration("growing", freshKey64(), { in: "time" }));
    const one = await list(3, "?limit=1&metadata.in=time");
    const refs = [String(Object((one.json["items"] as ReadonlyArray<unknown>)[0])["ref"])];
    await cluster.replace(1, refs[0] ?? "", '"1"', { metadata: {} });
    const rest = await list(2, `?limit=200&metadata.in=time&cursor=${String(one.json["nextCursor"])}`);
    expect(rest.json["items"]).toHaveLength(1);
    expect((await list(1, "?metadata.in=time")).json["items"]).toEqual(rest.json["items"]);
  });

  it("answers HEAD as GET, without a body", async () => {
    const url = `${cluster.server(2).url}${PATH}?limit=1`;
    const headers = { "x-jwt-token": cluster.token };
    const [head, get] = [await fetch(url, { method: "HEAD", headers }), await fetch(url, { headers })];
    expect([head.status, await head.text(), head.headers.get("content-length")]).toEqual([
      200,
      "",
      String(Buffer.byteLength(await get.text())),
    ]);
  });
});

describe("a list is refused", () => {
  const invalid = { parameter: "cursor", code: "invalid_value", detail: expect.any(String) };

  it("for what a query says wrongly, by name, all at once", async () => {
    const { json } = await list(1, "?limit=0&order=asc&limit=1&type=X&id=%zz");
    expect(json).toMatchObject({ status: 400, code: "INVALID_QUERY", retryable: false });
    expect(
      (json["errors"] as ReadonlyArray<{ parameter: string; code: string }>).map(({ parameter }) => parameter),
    ).toEqual(["limit", "#2", "limit", "type", "#5"]);
  });

  it("for a cursor of other filters, of another form, or changed in any character", async () => {
    const { json } = await list(1, "?limit=1&metadata.team=a");
    const cursor = String(json["nextCursor"]);
    const expected = [400, "INVALID_QUERY", [invalid]];
    for (const filter of ["", "metadata.team=b&", "metadata.team=a&type=SIGNATURE&"])
      expect(errorsOf(await list(2, `?${filter}cursor=${cursor}`))).toEqual(expected);
    for (const wrong of [`${cursor}=`, cursor.slice(0, -1), "AAAA", "!", "x".repeat(2_000)])
      expect(errorsOf(await list(3, `?metadata.team=a&cursor=${encodeURIComponent(wrong)}`))).toEqual(expected);
    expect((await list(3, `?metadata.team=a&limit=200&cursor=${cursor}`)).status).toBe(200);
  });

  it("before its query is looked at: without a token, without the permission, and at a sealed peer", async () => {
    const url = `${cluster.server(1).url}${PATH}?order=asc`;
    expect((await fetch(url)).status).toBe(401);
    const poor = cluster.mint(["service.approvers.register"]);
    expect((await fetch(url, { headers: { "x-jwt-token": await poor } })).status).toBe(403);
    await cluster.post(3, "/v1/custody/system/seal", {});
    expect(errorsOf(await list(3, "?order=asc"))).toEqual([503, "SEALED", undefined]);
    expect((await list(1)).status).toBe(200);
    await cluster.unseal(3);
    expect((await list(3)).status).toBe(200);
  });

  it("with a header that is too long, and for another method", async () => {
    expect((await list(1, `?metadata.a=${"x".repeat(33_000)}`)).status).toBe(431);
    const response = await fetch(`${cluster.server(1).url}${PATH}`, { method: "DELETE" });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, GET, HEAD"]);
  });
});

describe("a page of records that are long to write", () => {
  it("is short, and the next one goes on", async () => {
    const alone = await ServerCluster.found(1);
    // Each character takes six when it is written.
    const pairs = Array.from({ length: 31 }, (_, at) => [`k${at}`, "\u0001".repeat(500)] as const);
    for (let at = 0; at < 55; at++) {
      const body = registration(`long-${at}`, freshKey64(), Object.fromEntries(pairs));
      expect((await alone.register(1, body)).status).toBe(201);
    }
    const first = await alone.get(1, `${PATH}?limit=200`);
    const count = ({ json }: Answered): number => (json["items"] as ReadonlyArray<unknown>).length;
    expect(first.text.length).toBeGreaterThan(4 * 1024 * 1024);
    expect(first.text.length).toBeLessThan(4.2 * 1024 * 1024);
    const second = await alone.get(1, `${PATH}?limit=200&cursor=${String(first.json["nextCursor"])}`);
    expect([count(first) + count(second), second.json["nextCursor"]]).toEqual([55, null]);
    await alone.close();
  });
});
