import { expect, it } from "vitest";
import { CAPACITIES } from "../../base/Capacities.ts";
import type { RowView } from "../../Tables.ts";
import { knownCredentials } from "./KnownCredentials.ts";

const keyOf = (index: number): string => `alice@sha256:${index.toString(16).padStart(64, "0")}`;

/** A view of so many versions of alice, every tenth of them a passkey, that counts what it hands out. */
const versions = (total: number) => {
  let read = 0;
  const scan = (_table: string, after: string, limit: number) => {
    const from = after === "alice@" ? 0 : Number.parseInt(after.slice(-64), 16) + 1;
    const page = Array.from({ length: Math.max(0, Math.min(limit, total - from)) }, (_, at) => {
      const index = from + at;
      const type = index % 10 === 0 ? "WEBAUTHN" : "SIGNATURE";
      const rpId = index % 20 === 0 ? "example.org" : "example.com";
      return { key: keyOf(index), row: { descriptor: JSON.stringify({ type, rpId, credentialId: `c${index}` }) } };
    });
    read += page.length;
    return page;
  };
  return { view: { get: () => undefined, scan } as unknown as RowView, read: () => read };
};

it("are the passkeys of this relying party alone, over more than a page", () => {
  expect(knownCredentials(versions(90).view, { id: "alice", rpId: "example.org" }, CAPACITIES)).toEqual([
    "c0",
    "c20",
    "c40",
    "c60",
    "c80",
  ]);
});

it("are those of the very id, not of the next one", () => {
  const descriptor = JSON.stringify({ type: "WEBAUTHN", rpId: "example.org", credentialId: "c" });
  const page = [keyOf(1), keyOf(2).replace("alice", "bob")].map((key) => ({ key, row: { descriptor } }));
  const view = { get: () => undefined, scan: () => page } as unknown as RowView;
  expect(knownCredentials(view, { id: "alice", rpId: "example.org" }, CAPACITIES)).toEqual(["c"]);
});

it("are looked for in so many versions and no more", () => {
  const { view, read } = versions(5_000);
  const known = knownCredentials(view, { id: "alice", rpId: "example.com" }, CAPACITIES);
  expect(known.at(0)).toBe("c10");
  expect(read()).toBe(CAPACITIES.excludedVersions);
  const few = versions(5_000);
  expect(knownCredentials(few.view, { id: "alice", rpId: "example.com" }, { excludedVersions: 3 })).toEqual([]);
  expect(few.read()).toBe(3);
});
