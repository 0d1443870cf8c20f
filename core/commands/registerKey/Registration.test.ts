import { NEWEST } from "../../codec/Versioned.ts";
import { ed25519 } from "@noble/curves/ed25519.js";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../../properties/cluster/Cluster.ts";
import { posted } from "../../../properties/cluster/Enrolling.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import { installedProviders } from "../../credential/SignatureProvider.ts";
import type { EvaluationContext } from "../../protocol/EvaluationContext.ts";
import type { Rows, RowView } from "../../Tables.ts";
import { registerKey, registerKeyEffects } from "./RegisterKey.ts";
import { type Registration, REGISTER_PATH, registrationOf } from "./Registration.ts";

const publicKey64 = Buffer.from(ed25519.getPublicKey(new Uint8Array(32).fill(7))).toString("base64");
const body = { id: "alice", credential: { type: "SIGNATURE", algorithm: "ED25519", publicKey64 }, metadata: {} };
const means = { crypto, providers: installedProviders };
const registration: Registration = Either.getOrThrow(registrationOf(means, posted(REGISTER_PATH, body)));
const codeOf = (call: ReturnType<typeof posted>, providers = installedProviders): string =>
  Either.match(registrationOf({ crypto, providers }, call), { onLeft: ({ code }) => code, onRight: ({ id }) => id });

describe("a registration's request", () => {
  it("is posted to the path of registrations, and to no other", () => {
    const call = posted(REGISTER_PATH, body);
    expect(registerKey.recognizes(call)).toBe(true);
    expect(registerKey.recognizes({ ...call, method: "PUT" })).toBe(false);
    expect(registerKey.recognizes({ ...call, path: `${REGISTER_PATH}/` })).toBe(false);
  });

  it("names the approver's id", () => {
    expect(codeOf(posted(REGISTER_PATH, body))).toBe("alice");
  });

  it("is refused for an algorithm that is not installed", () => {
    expect(codeOf(posted(REGISTER_PATH, body), new Map())).toBe("UNSUPPORTED_ALGORITHM");
  });
});

describe("a registration's standing", () => {
  const cluster = founded(1);
  /** A registry without approvers, in which the key may have an owner. */
  const owned = (id: string | undefined): EvaluationContext => {
    const { context, membership } = openStep(cluster, 1);
    const view: RowView = {
      get: <T extends keyof Rows>(table: T) => (table === "keys" && id !== undefined ? ({ id } as Rows[T]) : undefined),
      scan: () => [],
    };
    return {
      context: { ...context, view },
      membership,
      isCurrent: () => true,
      isLocked: () => false,
      slice: ({ empty }) => empty,
    };
  };

  it("is possible where nobody has the key, and where the same id has it by another credential", () => {
    for (const id of [undefined, "alice"]) {
      const standing = registerKey.check(owned(id), registration);
      if (standing._tag !== "Possible") throw new Error(standing._tag);
      const approverAt = (at: number) =>
        registerKeyEffects.decode(standing.effectsAt({ proposedAt: at, version: NEWEST }))?.approver;
      const { ref, id: registered, descriptor, keyIdentity, metadata } = registration;
      expect(approverAt(5_000)).toEqual({
        ref,
        id: registered,
        descriptor,
        keyIdentity,
        metadata,
        revision: 1,
        createdAt: 5_000,
        updatedAt: 5_000,
      });
      expect(approverAt(6_000)?.createdAt).toBe(6_000);
    }
  });

  it("is impossible for good where another id has the key", () => {
    expect(registerKey.check(owned("bob"), registration)).toMatchObject({
      _tag: "Impossible",
      isFinal: true,
      rejection: { code: "KEY_ALREADY_REGISTERED", ref: registration.ref },
    });
  });
});
