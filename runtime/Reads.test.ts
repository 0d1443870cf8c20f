import { changed } from "../properties/cluster/Changed.ts";
import { commands } from "../core/commands/Commands.ts";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { boot } from "../core/protocol/Boot.ts";
import { descriptorJson, refDigest } from "../core/credential/SignatureCredential.ts";
import { CAPACITIES } from "../core/base/Capacities.ts";
import type { Digest, PublicKey } from "../core/base/Digest.ts";
import type { ActorCheck } from "../core/auth/ActorCheck.ts";
import type { Settings } from "../core/protocol/Event.ts";
import type { PeerState } from "../core/protocol/PeerState.ts";
import type { Rows, RowView } from "../core/Tables.ts";
import { StoreFailure } from "./ByteStore.ts";
import { cryptoOf } from "./CryptoPrimitives.ts";
import { noblePrimitives } from "./NobleCrypto.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import { readApprover, withObservations } from "./Reads.ts";

const NOW = 1_800_000_000_000;
const crypto = cryptoOf(noblePrimitives);
const digest = (byte: string): Digest => byte.repeat(64) as Digest;

const settings: Settings = {
  configDigest: digest("1"),
  audience: "custody",
  issuer: undefined,
  peers: [],
  bootstrapSecret: undefined,
  development: false,
  answerMillis: 10_000,
  capacities: CAPACITIES,
  relyingParty: undefined,
  arbitrary: true,
};

const actor = (permissions: ReadonlyArray<string>, expiresAt = NOW + 1): ActorCheck => ({
  _tag: "Verified",
  claims: {
    iss: undefined,
    sub: "reader",
    jti: undefined,
    audience: ["custody"],
    expiresAt,
    notBefore: undefined,
    issuedAt: undefined,
    permissions,
  },
});
const reader = actor(["service.approvers.read"]);

const descriptor = descriptorJson({ type: "SIGNATURE", algorithm: "ED25519", publicKey64: "AA==" });
const ref = `alice@sha256:${refDigest(crypto.sha256OfText, descriptor)}`;
const row: Rows["approvers"] = {
  id: "alice",
  ref,
  descriptor,
  keyIdentity: digest("2"),
  metadata: [],
  revision: 1,
  createdAt: NOW,
  updatedAt: NOW,
};

const observations: Rows["observations"] = { signCount: 7, backupState: false, transports: ["usb"], aaguid: "AA" };

/** A store with one approver, or with what `find` answers; `observed` answers for its authenticator. */
const viewOf = (
  find: () => Rows["approvers"] | undefined,
  observed: () => Rows["observations"] | undefined = () => undefined,
): RowView => ({
  get: (table, key) => {
    if (key !== ref) return undefined;
    return (table === "approvers" ? find() : table === "observations" ? observed() : undefined) as never;
  },
  scan: () => [],
});
const empty: RowView = { get: () => undefined, scan: () => [] };
const initialized = changed(boot(empty, crypto, commands, 0), {
  peer: {
    peerId: 1,
    threshold: 1,
    total: 1,
    identityKey: digest("3") as string as PublicKey,
    integrityKey: digest("4") as string as PublicKey,
    nonce: digest("5"),
    unsealedOnce: true,
  },
});
const unsealed = changed(initialized, { unsealed: true });

const readWith = (view: RowView, state: PeerState, by: ActorCheck, wanted = ref) => {
  const lost: Array<string> = [];
  const ports = {
    view,
    state,
    crypto,
    settings,
    clock: { now: NOW, asBefore: [] },
    integrityLost: (where: string) => void lost.push(where),
  };
  const result = readApprover(ports, by, wanted);
  return { lost, outcome: Either.isRight(result) ? result.right : result.left.code };
};
const stored = viewOf(() => row);

describe("a read", () => {
  it("gives the row", () => {
    const outcome = { approver: row, observations: undefined };
    expect(readWith(stored, unsealed, reader)).toEqual({ outcome, lost: [] });
  });

  it("gives what was observed of a passkey beside its row", () => {
    const view = viewOf(
      () => row,
      () => observations,
    );
    expect(readWith(view, unsealed, reader).outcome).toEqual({ approver: row, observations });
  });

  it("goes on while this peer must not sign", () => {
    const damaged = changed(unsealed, { integrityFault: "approvers/other" });
    expect(readWith(stored, damaged, reader).outcome).toMatchObject({ approver: row });
  });

  it("shows nothing of an old disk, neither what is there nor that something is not", () => {
    const quarantined = changed(unsealed, { quarantine: "old disk" });
    for (const view of [stored, empty])
      expect(readWith(view, quarantined, reader)).toEqual({ outcome: "OUTDATED", lost: [] });
    const damagedToo = changed(quarantined, { integrityFault: "approvers/other" });
    expect(readWith(stored, damagedToo, reader).outcome).toBe("OUTDATED");
    expect(readWith(stored, quarantined, { _tag: "Refused", reason: "it is odd" }).outcome).toBe("UNAUTHENTICATED");
  });

  it("takes no row for one that never was while rows are known to be lost", () => {
    const damaged = changed(unsealed, { integrityFault: "3 rows are missing" });
    expect(readWith(empty, damaged, reader)).toEqual({ outcome: "INTEGRITY_FAILURE", lost: [] });
    expect(readWith(empty, unsealed, reader).outcome).toBe("APPROVER_NOT_FOUND");
  });

  it.each<[string, ActorCheck, string]>([
    ["a refused token", { _tag: "Refused", reason: "it is odd" }, "UNAUTHENTICATED"],
    ["an expired token", actor(["service.approvers.read"], NOW), "UNAUTHENTICATED"],
    ["another permission", actor(["service.approvers.register"]), "ACCESS_DENIED"],
    ["a denial", actor(["service.*.*", "-service.approvers.read"]), "ACCESS_DENIED"],
    ["keys that cannot be had", { _tag: "Unavailable" }, "TOKEN_KEYS_UNAVAILABLE"],
  ])("looks at nothing with %s", (_name, by, code) => {
    const untouchable = viewOf(() => {
      throw new Error("the store was read");
    });
    expect(readWith(untouchable, unsealed, by).outcome).toBe(code);
    expect(readWith(untouchable, initialized, by, "nonsense").outcome).toBe(code);
  });

  it("is refused before initialization and while sealed, before the ref is looked at", () => {
    expect(readWith(stored, boot(empty, crypto, commands, 0), reader, "nonsense").outcome).toBe("NOT_INITIALIZED");
    expect(readWith(stored, initialized, reader, "nonsense").outcome).toBe("SEALED");
  });

  it("tells a malformed ref from an unknown one", () => {
    expect(readWith(stored, unsealed, reader, "alice").outcome).toBe("INVALID_REF");
    expect(readWith(empty, unsealed, reader).outcome).toBe("APPROVER_NOT_FOUND");
  });

  it("reports a row whose seal does not hold, or that stands under the wrong ref", () => {
    const broken = viewOf(() => {
      throw new IntegrityFailure(`approvers/${ref}`, "the seal does not hold");
    });
    const where = [`approvers/${ref}`];
    expect(readWith(broken, unsealed, reader)).toEqual({ outcome: "INTEGRITY_FAILURE", lost: where });
    const unobserved = viewOf(
      () => row,
      () => {
        throw new IntegrityFailure(`observations/${ref}`, "the seal does not hold");
      },
    );
    expect(readWith(unobserved, unsealed, reader)).toEqual({
      outcome: "INTEGRITY_FAILURE",
      lost: [`observations/${ref}`],
    });
    const moved = viewOf(() => ({ ...row, ref: `bob@${ref.slice(6)}` }));
    expect(readWith(moved, unsealed, reader)).toEqual({ outcome: "INTEGRITY_FAILURE", lost: where });
    const other = descriptorJson({ type: "SIGNATURE", algorithm: "P256", publicKey64: "AA==" });
    const swapped = viewOf(() => ({ ...row, descriptor: other }));
    expect(readWith(swapped, unsealed, reader)).toEqual({ outcome: "INTEGRITY_FAILURE", lost: where });
  });

  it("does not hide a disk that fails", () => {
    const failing = viewOf(() => {
      throw new StoreFailure("no disk");
    });
    expect(() => readWith(failing, unsealed, reader)).toThrow(StoreFailure);
  });
});

describe("a version that was changed just now", () => {
  const shownWith = (observed: () => Rows["observations"] | undefined) => {
    const lost: Array<string> = [];
    const ports = { view: viewOf(() => row, observed), integrityLost: (where: string) => void lost.push(where) };
    return { lost, shown: withObservations(ports, row) };
  };

  it("is shown with what was observed of a passkey", () => {
    expect(shownWith(() => observations)).toEqual({ lost: [], shown: Either.right({ approver: row, observations }) });
    const bare = Either.right({ approver: row, observations: undefined });
    expect(shownWith(() => undefined)).toEqual({ lost: [], shown: bare });
  });

  it("is not shown where that row does not hold: the change stands, and its caller is told to look elsewhere", () => {
    const { lost, shown } = shownWith(() => {
      throw new IntegrityFailure(`observations/${ref}`, "its seal does not hold");
    });
    expect(lost).toEqual([`observations/${ref}`]);
    expect(Either.flip(shown).pipe(Either.getOrThrow)).toMatchObject({
      code: "INTEGRITY_FAILURE",
      ref,
      outcomeUnknown: true,
    });
  });

  it("does not hide a disk that fails", () => {
    expect(() =>
      shownWith(() => {
        throw new StoreFailure("EIO");
      }),
    ).toThrow("EIO");
  });
});
