/** The probes over every mode of a peer, those too that last a moment. */
import { Effect, Either } from "effect";
import { describe, expect, it } from "vitest";
import { commands } from "../../core/commands/Commands.ts";
import type { Digest, PublicKey } from "../../core/base/Digest.ts";
import type { MemberFault } from "../../core/base/Rejection.ts";
import { boot } from "../../core/protocol/Boot.ts";
import { modeOf } from "../../core/protocol/Mode.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { StateFields } from "../../core/protocol/StateFields.ts";
import { auditCrypto } from "../../properties/AuditChains.ts";
import { changed } from "../../properties/cluster/Changed.ts";
import { type ApiCall, awaited } from "./ApiCall.ts";
import { health, readable, ready } from "./Probes.ts";

const digest = "1".repeat(64) as Digest;
const blank = boot({ get: () => undefined, scan: () => [] }, auditCrypto, commands, 0);
const initialized: Partial<StateFields> = {
  peer: {
    peerId: 1,
    threshold: 2,
    total: 3,
    identityKey: "3".repeat(64) as PublicKey,
    integrityKey: "4".repeat(64) as PublicKey,
    nonce: digest,
    unsealedOnce: true,
  },
};
const membership = { digest, keys: new Map(), writer: 1, peerIds: [1, 2, 3] };
const founded = { ...initialized, unsealed: true, membership } as unknown as Partial<StateFields>;
const stateWith = (fields: Partial<StateFields>): PeerState => changed(blank, fields);
const recovering = (isReadable: boolean) =>
  ({ ...founded, recovery: { isReadable } }) as unknown as Partial<StateFields>;

interface Situation {
  readonly state: PeerState;
  readonly faults?: ReadonlyArray<MemberFault>;
  readonly judgesTokens?: boolean;
  /** What the peer is asked for before it stops, and from when on it does. */
  readonly draining?: () => boolean;
}

/** What the three probes say: 200 or a code. */
const told = async ({ state, faults = [], judgesTokens = true, draining = () => false }: Situation) => {
  const ports = {
    peer: { standing: state, readiness: async () => faults },
    judgesTokens: () => judgesTokens,
    draining,
  };
  const call = { ports } as unknown as ApiCall;
  const answers = [];
  for (const probe of [health, readable, ready]) {
    const answered = await Effect.runPromise(Effect.scoped(Effect.either(awaited(probe(call)))));
    answers.push(Either.isRight(answered) ? answered.right.status : answered.left.code);
  }
  return answers;
};

const away: ReadonlyArray<MemberFault> = [{ peerId: 2, reason: "it does not answer" }];

describe("what balancers are told", () => {
  it.each([
    ["blank", {}, "NOT_INITIALIZED"],
    ["sealed", initialized, "SEALED"],
    ["verifying", { ...initialized, verifying: true }, "VERIFYING"],
    ["damaged", { ...founded, integrityFault: "keys/a" }, "INTEGRITY_FAILURE"],
    ["quarantined", { ...founded, quarantine: "an old disk" }, "OUTDATED"],
    ["recovering", recovering(false), "RECOVERING"],
    ["recovering", recovering(true), 200],
    ["active", founded, 200],
  ] as const)("by a peer that is %s", async (mode, fields, reads) => {
    const state = stateWith(fields);
    expect(modeOf(state)).toBe(mode);
    expect(await told({ state, faults: away })).toEqual([200, reads, "NOT_READY"]);
    expect(await told({ state })).toEqual([200, reads, 200]);
    // Whatever else there is to say: it goes away.
    expect(await told({ state, draining: () => true })).toEqual([200, "STOPPING", "STOPPING"]);
  });

  it("by a peer that cannot verify tokens", async () => {
    const state = stateWith(founded);
    expect(await told({ state, judgesTokens: false })).toEqual([200, "TOKEN_KEYS_UNAVAILABLE", 200]);
  });

  it("by a peer that begins to stop while its members are asked", async () => {
    let asked = 0;
    // Once for reads and once before the members are asked it goes on.
    expect(await told({ state: stateWith(founded), draining: () => ++asked > 2 })).toEqual([200, 200, "STOPPING"]);
  });
});
