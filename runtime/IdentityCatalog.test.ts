import { Either } from "effect";
import { describe, expect, it, vi } from "vitest";
import type { ActorCheck } from "../core/auth/ActorCheck.ts";
import { parseStrictJson } from "../core/codec/StrictJson.ts";
import { Place } from "../core/codec/Shape.ts";
import { arbitraryCommandFor } from "../core/commands/keys/KeyBodies.ts";
import { generationKey } from "../core/commands/keys/Tables.ts";
import type { BodyFault } from "../core/base/Rejection.ts";
import { crypto, inUse, settingsOf } from "../properties/cluster/Cluster.ts";
import { KeyedCluster, keyActor } from "../properties/cluster/PlantedKeys.ts";
import { authorityDescription, type CatalogPorts, identityPage } from "./IdentityCatalog.ts";
import { keyPage } from "./KeyPages.ts";
import { MemoryByteStore } from "./MemoryByteStore.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import { SealedStore } from "./SealedStore.ts";

const granted = (...permissions: ReadonlyArray<string>): ActorCheck =>
  keyActor._tag === "Verified" ? { ...keyActor, claims: { ...keyActor.claims, permissions } } : keyActor;
const anybody = granted("service.key.*.sign");

/** What peer 2 is read through. */
const portsOf = (cluster: KeyedCluster, lost: Array<string> = []): CatalogPorts => {
  const driver = cluster.peers.get(2);
  const tables = cluster.tables.get(2);
  const identity = cluster.keys.get(2);
  if (driver === undefined || tables === undefined || identity === undefined) throw new Error("there is no peer 2");
  const bytes = new MemoryByteStore({ tables });
  const store = new SealedStore(bytes, crypto);
  return {
    view: store,
    state: driver.state,
    settings: settingsOf(2, 3),
    clock: { now: cluster.now, asBefore: [] },
    crypto,
    shareVault: inUse(identity).shareVault,
    integrityLost: (where) => void lost.push(where),
  };
};

const codeIn = (described: Either.Either<unknown, { readonly code: string }>): string =>
  Either.isLeft(described) ? described.left.code : "none";

/** One page at this moment. */
const pageOf = (ports: CatalogPorts, actor = anybody, lastSeen = "", limit = 50) => {
  const slices = identityPage(() => ports, actor, lastSeen, limit);
  for (;;) {
    const slice = slices.next();
    if (slice.done === true) return slice.value;
  }
};

const idsOf = (...asked: Parameters<typeof pageOf>) => {
  const page = Either.getOrThrow(pageOf(...asked));
  return [page.items.map(({ keyId }) => keyId), page.nextCursor] as const;
};

describe("the identity catalog", () => {
  it("has what its reader may sign with, by id, a page at a time", () => {
    const cluster = new KeyedCluster();
    for (const keyId of ["c", "a", "d", "b"]) cluster.plantKey(keyId);
    const ports = portsOf(cluster);
    expect(Either.getOrThrow(pageOf(ports)).items[0]).toEqual({
      keyId: "a",
      algorithm: "ED25519",
      generation: 1,
      authorities: ["arbitrary"],
    });
    expect(idsOf(ports)).toEqual([["a", "b", "c", "d"], undefined]);
    expect(idsOf(ports, anybody, "", 2)).toEqual([["a", "b"], "b"]);
    expect(idsOf(ports, anybody, "b", 2)).toEqual([["c", "d"], undefined]);
    expect(idsOf(ports, anybody, "bb", 2)).toEqual([["c", "d"], undefined]);
    expect(idsOf(ports, granted("service.key.b.sign", "service.key.d.sign"))).toEqual([["b", "d"], undefined]);
    expect(idsOf(ports, granted("service.key.*.sign", "-service.key.c.sign"), "", 2)).toEqual([["a", "b"], "b"]);
    expect(idsOf(ports, granted("service.key.*.verify"))).toEqual([[], undefined]);
  });

  it("shows no authority that this peer does not let be used, as its description does", () => {
    const cluster = new KeyedCluster();
    cluster.plantKey("a");
    const ports = portsOf(cluster);
    const disabled = { ...ports, settings: { ...ports.settings, arbitrary: false } };
    expect(Either.getOrThrow(pageOf(disabled)).items).toEqual([
      { keyId: "a", algorithm: "ED25519", generation: 1, authorities: [] },
    ]);
    expect(codeIn(authorityDescription(disabled, anybody, "a", "arbitrary"))).toBe("AUTHORITY_NOT_ATTACHED");
  });

  it("names no key that its reader may not sign with, nor says where there is one", () => {
    const cluster = new KeyedCluster();
    for (const keyId of ["team-a", "team-b", "team-c", "team-d", "z"]) cluster.plantKey(keyId);
    const ports = portsOf(cluster);
    const two = granted("service.key.team-a.sign", "service.key.team-d.sign");
    expect(idsOf(ports, two, "", 1)).toEqual([["team-a"], "team-a"]);
    expect(idsOf(ports, two, "team-a", 1)).toEqual([["team-d"], undefined]);
    const team = granted("service.key.team-*.sign", "-service.key.team-d.sign");
    expect(idsOf(ports, team, "", 3)).toEqual([["team-a", "team-b", "team-c"], undefined]);
    expect(idsOf(ports, granted("service.key.*.sign", "-service.key.team-*.sign"), "", 1)).toEqual([["z"], undefined]);
  });

  it("leaves out, and describes no commands for, what is destroyed, has no share that opens here, or is tampered with", () => {
    const cluster = new KeyedCluster();
    for (const keyId of ["destroyed", "foreign", "lost", "tampered", "whole"]) cluster.plantKey(keyId);
    const key = cluster.row(2, "custodyKeys", "destroyed");
    const box = cluster.row(2, "shares", generationKey("whole", 1))?.box;
    if (key === undefined || box === undefined) throw new Error("there is no key");
    cluster.write(2, [
      { op: "replace", table: "custodyKeys", key: "destroyed", row: { ...key, status: "DESTROYED" } },
      { op: "replace", table: "shares", key: generationKey("foreign", 1), row: { box } },
      { op: "remove", table: "shares", key: generationKey("lost", 1) },
    ]);
    const rows = cluster.tables.get(2)?.get("generations");
    const [stored, other] = ["tampered", "whole"].map((keyId) => rows?.get(generationKey(keyId, 1)));
    if (stored === undefined || other === undefined) throw new Error("there is no generation");
    rows?.set(generationKey("tampered", 1), { ...stored, row: other.row });
    const lost: Array<string> = [];
    const ports = portsOf(cluster, lost);
    expect(idsOf(ports)).toEqual([["whole"], undefined]);
    expect(lost).toEqual([`generations/${generationKey("tampered", 1)}`]);
    const described = ["destroyed", "foreign", "lost", "tampered", "whole"].map((keyId) =>
      codeIn(authorityDescription(ports, anybody, keyId, "arbitrary")),
    );
    expect(described).toEqual(["KEY_DESTROYED", "SHARE_MISSING", "SHARE_MISSING", "INTEGRITY_FAILURE", "none"]);
  });

  it("is refused where keys may be lost", () => {
    const cluster = new KeyedCluster();
    cluster.plantKey("a");
    const lost: Array<string> = [];
    const ports = portsOf(cluster, lost);
    const keys = (): never => {
      throw new IntegrityFailure("the first rows", "1 rows are missing");
    };
    const { get, scan } = ports.view;
    const refused = pageOf({ ...ports, view: { get, scan, keys } });
    expect(Either.isLeft(refused) && refused.left.code).toBe("INTEGRITY_FAILURE");
    const all = { filter: { assetOwner: undefined, status: undefined }, limit: 50, cursor: undefined };
    expect(keyPage(() => ({ ...ports, view: { get, scan, keys } }), all, "").next()).toMatchObject({
      done: true,
      value: { left: { code: "INTEGRITY_FAILURE" } },
    });
    expect(lost).toEqual(["the first rows", "the first rows"]);
  });

  it("is refused by a sealed peer and to a bad token", () => {
    const cluster = new KeyedCluster();
    cluster.plantKey("a");
    const refused = pageOf(portsOf(cluster), { _tag: "Refused", reason: "bad" });
    expect(Either.isLeft(refused) && refused.left.code).toBe("UNAUTHENTICATED");
    cluster.dispatch(2, { _tag: "Sealed" });
    const sealed = pageOf(portsOf(cluster));
    expect(Either.isLeft(sealed) && sealed.left.code).toBe("SEALED");
  });

  describe("of many keys", () => {
    const cluster = new KeyedCluster();
    const ports = portsOf(cluster);
    const many = Array.from({ length: 1_500 }, (_, at) => `k${at + 1_000}`);
    /** How many were looked at so far. */
    let looked = 0;
    const keys = (_: string, from: string, limit: number) => {
      const found = many.filter((each) => each >= from).slice(0, limit);
      looked += found.length;
      return found;
    };
    const [get, scan] = [ports.view.get.bind(ports.view), ports.view.scan.bind(ports.view)];
    const view: CatalogPorts["view"] = { get, scan, keys };

    it("examines so many keys and no more, and goes on behind the last one", () => {
      expect(idsOf({ ...ports, view }, anybody)).toEqual([[], many[999]]);
      expect(idsOf({ ...ports, view }, anybody, many[999])).toEqual([[], undefined]);
      expect(idsOf({ ...ports, view }, anybody, many[499])).toEqual([[], undefined]);
    });

    it("looks at none where none can be signed with, and passes over others without a page of theirs", () => {
      looked = 0;
      expect(idsOf({ ...ports, view }, granted())).toEqual([[], undefined]);
      expect(idsOf({ ...ports, view }, granted("service.key.l-*.sign", "service.key.*.verify"))).toEqual([
        [],
        undefined,
      ]);
      expect(looked).toBe(0);
      expect(idsOf({ ...ports, view }, granted("service.key.k2400.sign"))).toEqual([[], undefined]);
      expect(looked).toBe(16);
    });

    it("reads each permission once, whatever it allows", () => {
      const permissions = Array.from({ length: 20 }, (_, at) => `service.key.other-${at}.sign`);
      const test = vi.spyOn(RegExp.prototype, "test");
      expect(idsOf({ ...ports, view }, granted(...permissions))).toEqual([[], undefined]);
      const read = test.mock.calls.flatMap(([text]) => (permissions.includes(text) ? [text] : []));
      test.mockRestore();
      expect(read).toEqual(permissions);
    });

    it("gives way after every 16 keys, and answers no more once the peer is sealed", () => {
      looked = 0;
      let standing = ports.state;
      const slices = identityPage(() => ({ ...ports, view, state: standing }), anybody, "", 50);
      for (const slice of [1, 2, 3]) {
        expect(slices.next().done).toBe(false);
        expect(looked).toBe(16 * slice);
      }
      cluster.dispatch(2, { _tag: "Sealed" });
      standing = portsOf(cluster).state;
      expect(slices.next()).toMatchObject({ done: true, value: { left: { code: "SEALED" } } });
    });
  });
});

describe("the description of an authority", () => {
  const cluster = new KeyedCluster();
  cluster.plantKey("a");
  const ports = portsOf(cluster);

  it("is that of arbitrary, with the scheme of the key", () => {
    const described = Either.getOrThrow(authorityDescription(ports, anybody, "a", "arbitrary"));
    expect(described).toMatchObject({ id: "arbitrary", type: "arbitrary", version: undefined, description: undefined });
    expect(described.commandSchema).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      additionalProperties: false,
      required: ["type", "authorityId", "artifact"],
      properties: {
        type: { const: "arbitrary" },
        authorityId: { const: "arbitrary" },
        artifact: {
          additionalProperties: false,
          required: ["scheme", "data64"],
          properties: {
            scheme: { const: "EdDSA" },
            hash: { enum: ["NONE", "SHA256", "SHA512", "KECCAK256"] },
            data64: { contentEncoding: "base64", maxLength: 1_398_104 },
          },
        },
      },
    });
  });

  it("is given to whoever may sign with the key; to others it says nothing, not even whether there is one", () => {
    expect(codeIn(authorityDescription(ports, granted("service.key.b.sign"), "a", "arbitrary"))).toBe("ACCESS_DENIED");
    expect(codeIn(authorityDescription(ports, granted("service.key.a.sign"), "b", "arbitrary"))).toBe("ACCESS_DENIED");
    expect(codeIn(authorityDescription(ports, anybody, "b", "arbitrary"))).toBe("KEY_NOT_FOUND");
    expect(codeIn(authorityDescription(ports, anybody, "No Key", "arbitrary"))).toBe("KEY_NOT_FOUND");
    expect(codeIn(authorityDescription(ports, anybody, "a", "eu-payout"))).toBe("AUTHORITY_NOT_ATTACHED");
    const disabled = { ...ports, settings: { ...ports.settings, arbitrary: false } };
    expect(codeIn(authorityDescription(disabled, anybody, "a", "arbitrary"))).toBe("AUTHORITY_NOT_ATTACHED");
  });

  it("does not say that there is no key where one may be lost", () => {
    const { fitness } = ports.state;
    const damagedPorts = {
      ...ports,
      state: { ...ports.state, fitness: { ...fitness, integrityFault: "custodyKeys/b" } },
    };
    expect(codeIn(authorityDescription(damagedPorts, anybody, "b", "arbitrary"))).toBe("INTEGRITY_FAILURE");
    expect(codeIn(authorityDescription(damagedPorts, anybody, "a", "arbitrary"))).toBe("none");
  });

  it("describes what is read: the scheme of another key is at fault", () => {
    const read = (scheme: string): ReadonlyArray<BodyFault> => {
      const text = `{"type":"arbitrary","authorityId":"arbitrary","artifact":{"scheme":"${scheme}","data64":""}}`;
      const faults: Array<BodyFault> = [];
      const json = Either.getOrThrow(parseStrictJson(Buffer.from(text)));
      arbitraryCommandFor("EdDSA").read(json, new Place(undefined, "", faults));
      return faults;
    };
    expect(read("EdDSA")).toEqual([]);
    expect(read("BIP340").map(({ pointer }) => pointer)).toEqual(["/artifact/scheme"]);
  });
});
