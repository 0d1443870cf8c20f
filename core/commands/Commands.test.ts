import { describe, expect, it } from "vitest";
import { approverIn, asFinish, asReplacement } from "../../properties/cluster/AlteredEffects.ts";
import { crypto } from "../../properties/cluster/Cluster.ts";
import { posted } from "../../properties/cluster/Enrolling.ts";
import { prepared } from "../../properties/cluster/Prepared.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { utf8Length } from "../codec/Utf8.ts";
import { installedProviders } from "../credential/SignatureProvider.ts";
import type { Digest } from "../base/Digest.ts";
import { OPTIONS_PATH } from "./enrollPasskey/Enrollment.ts";
import { InvariantViolation } from "../base/Invariant.ts";
import { type Command, commandFor, commandOf, type Intent } from "../protocol/Command.ts";
import type { Call } from "../protocol/Forward.ts";
import { KIND_BYTES, type Proposal } from "../protocol/Proposal.ts";
import { rejectionCodes } from "../base/Rejection.ts";
import { keyLock, metadataLock, refLock, sessionLock } from "./approvers/Locks.ts";
import { METADATA_PERMISSION, REGISTER_PERMISSION } from "./approvers/Permissions.ts";
import { commands } from "./Commands.ts";
import { effectsOf, withEffects } from "./Effects.ts";
import { enrollPasskey } from "./enrollPasskey/EnrollPasskey.ts";
import { FINISH_PATH } from "./enrollPasskey/Finish.ts";
import { registerKey } from "./registerKey/RegisterKey.ts";
import { REGISTER_PATH } from "./registerKey/Registration.ts";
import { replaceMetadata } from "./replaceMetadata/ReplaceMetadata.ts";
import { metadataPath } from "./replaceMetadata/Replacement.ts";

const REF = `alice@sha256:${"ab".repeat(32)}`;
const credential = {
  type: "SIGNATURE",
  algorithm: "SLHDSA_SHA2_128S",
  publicKey64: Buffer.alloc(32, 7).toString("base64"),
};
const means = { crypto, providers: installedProviders };
const registration = posted(REGISTER_PATH, { id: "alice", credential });
const replacement: Call = { ...posted(metadataPath(REF), { metadata: {} }), method: "PUT", ifMatch: '"3"' };
const invitation = Buffer.alloc(32, 1).toString("base64url");
const finish = posted(FINISH_PATH, {
  invitation,
  credential: {
    type: "public-key",
    id: "AAAA",
    rawId: "AAAA",
    clientExtensionResults: {},
    response: { clientDataJSON: "AAAA", attestationObject: "AAAA" },
  },
});
const calls: ReadonlyArray<readonly [string, Call, Command]> = [
  ["a registration", registration, registerKey],
  ["a replacement", replacement, replaceMetadata],
  ["a finish", finish, enrollPasskey],
];

describe("the commands", () => {
  it("have kinds of their own, which fit into a proposal", () => {
    const kinds = commands.all.map(({ kind }) => kind);
    expect(new Set(kinds).size).toBe(kinds.length);
    expect(kinds.filter((kind) => (utf8Length(kind) ?? KIND_BYTES + 1) > KIND_BYTES)).toEqual([]);
    expect([...commands.byKind.values()]).toEqual(commands.all);
    for (const command of commands.all) expect(commandOf(commands, command)).toBe(command);
  });

  it("are all that there are: what is of another kind cannot have been signed for", () => {
    expect(() => commandOf(commands, { kind: "OPTIONS" })).toThrow(InvariantViolation);
  });

  it.each(commands.all.map((command) => [command.kind, command] as const))(
    "speak to callers in codes that there are, each once: %s",
    (_kind, { speaking }) => {
      expect(speaking.length).toBeGreaterThan(0);
      expect(new Set(speaking).size).toBe(speaking.length);
      expect(rejectionCodes).toEqual(expect.arrayContaining([...speaking]));
    },
  );
});

describe("a request", () => {
  it.each(calls)("is recognized by one command alone: %s", (_what, call, command) => {
    expect(commands.all.filter((each) => each.recognizes(call))).toEqual([command]);
    expect(commandFor(commands, call)).toBe(command);
  });

  it.each<readonly [string, Call]>([
    ["options, which change no row", posted(OPTIONS_PATH, { id: "alice" })],
    ["another path", posted("/", {})],
    ["a path below", { ...registration, path: `${REGISTER_PATH}/` }],
    ["a registration by another method", { ...registration, method: "PUT" }],
    ["a replacement by another method", { ...replacement, method: "POST" }],
    ["a finish by another method", { ...finish, method: "PUT" }],
  ])("is recognized by none: %s", (_what, call) => {
    expect(commands.all.filter((each) => each.recognizes(call))).toEqual([]);
    expect(commandFor(commands, call)).toBeUndefined();
  });

  it.each([
    ["a registration", registration, [REGISTER_PERMISSION]],
    ["a replacement", replacement, [METADATA_PERMISSION]],
    ["a finish, which brings an invitation", finish, []],
  ])("needs its own permission: %s", (_what, call, permissions) => {
    expect(commandFor(commands, call)?.permissionsOf(call)).toEqual(permissions);
  });

  it.each([
    ["a registration", registration, { kind: "REGISTER", ref: expect.stringMatching(/^alice@sha256:/) }],
    ["a replacement", replacement, { kind: "METADATA", ref: REF, baseRevision: 3 }],
    [
      "a finish, which does not say for which approver it is",
      finish,
      {
        kind: "FINISH",
        ref: undefined,
        response: { registrationId: expect.any(String), responseDigest: expect.any(String) },
      },
    ],
  ])("says what it is about without any row: %s", (_what, call, target) => {
    expect(commandFor(commands, call)?.targetOf(means, call)).toMatchObject(target);
  });

  it.each([
    ["a registration", posted(REGISTER_PATH, {})],
    ["a replacement", { ...replacement, ifMatch: undefined }],
    ["a finish", posted(FINISH_PATH, {})],
  ])("that cannot be understood is about nothing: %s", (_what, call) => {
    const command = commandFor(commands, call);
    expect(command).toBeDefined();
    expect(command?.targetOf(means, call)).toBeUndefined();
  });
});

const OTHER = "ab".repeat(32) as Digest;
const response = { registrationId: "cd".repeat(32) as Digest, responseDigest: "ef".repeat(32) as Digest };
const { cluster, preparation } = prepared();
const { id, proposal } = preparation;
const { id: approverId, ref, keyIdentity, metadata } = approverIn(proposal);
const proposals: ReadonlyArray<readonly [string, Proposal]> = [
  ["REGISTER", proposal],
  ["METADATA", asReplacement(proposal, 1, { revision: 2 })],
  ["FINISH", asFinish(proposal, response)],
];

describe("effects", () => {
  it.each(proposals)("come to the same bytes again: %s", (kind, of) => {
    // Read from a copy, because the originals remember the written effects.
    const effects = effectsOf({ kind, effects: of.effects.slice() });
    if (effects === undefined) throw new Error("they can be read");
    expect(effects).toMatchObject({ kind, approver: { ref, keyIdentity } });
    expect(withEffects(proposal, effects)).toEqual(of);
    expect(commandOf(commands, of)).toMatchObject({ kind });
    expect(commandOf(commands, of).lineageOf(of.effects.slice())).toEqual({
      ref,
      revision: effects.approver.revision,
      claim: keyIdentity,
      owner: approverId,
    });
  });

  it.each(proposals)("hold by themselves where they name an approver by what it is: %s", (_kind, of) => {
    const command = commandOf(commands, of);
    expect(command.isSound(crypto, of.effects)).toBe(true);
    const effects = effectsOf(of);
    if (effects === undefined) throw new Error("they can be read");
    for (const change of [{ id: "mallory" }, { descriptor: "{}" }, { ref: REF }]) {
      const misnamed = withEffects(of, { ...effects, approver: { ...effects.approver, ...change } });
      expect(command.isSound(crypto, misnamed.effects), JSON.stringify(change)).toBe(false);
    }
  });

  it.each(proposals)("do not hold where they cannot be read, and nothing is done by them: %s", (kind, of) => {
    const command = commandOf(commands, of);
    const others = proposals.filter(([other]) => other !== kind).map(([, { effects }]) => effects);
    const trailing = Uint8Array.of(...of.effects, 0);
    for (const effects of [new Uint8Array(), Uint8Array.of(0), of.effects.slice(1), trailing, ...others]) {
      expect(effectsOf({ kind, effects })).toBeUndefined();
      expect(command.isSound(crypto, effects)).toBe(false);
      expect(() => command.locksOf(effects)).toThrow(InvariantViolation);
    }
  });

  it("of a kind that nobody knows cannot be read", () => {
    expect(effectsOf({ kind: "OPTIONS", effects: proposal.effects })).toBeUndefined();
  });
});

describe("whose outcome a request shares while it is undecided", () => {
  const intent: Intent = { kind: "REGISTER", ref, locks: [], deadline: Number.POSITIVE_INFINITY };
  const registering = { ...intent, kind: "REGISTER" as const, id: "alice", descriptor: "{}", keyIdentity, metadata };
  const replacing = { ...intent, kind: "METADATA" as const, baseRevision: 1, metadata };
  const observations = { signCount: 0, backupState: false, transports: [], aaguid: "" };
  const finishing = {
    ...registering,
    kind: "FINISH" as const,
    credentialIdentity: OTHER,
    observations,
    response,
  };
  /** The locks of another proposal when a registration is prepared. */
  const holding = (other: Proposal) => {
    const step = openStep(cluster, 1);
    step.edit("undecided", "preparations").set(id, { ...preparation, proposal: other });
    return step.state;
  };

  it("a registration that of an earlier one of the same approver", () => {
    expect(registerKey.coalescesWith(holding(proposal), registering)).toBe(id);
    expect(registerKey.coalescesWith(holding(proposal), { ...registering, ref: REF })).toBeUndefined();
  });

  it("a finish that of an earlier one with the same response, and of nothing else", () => {
    const another = { ...response, responseDigest: OTHER };
    expect(enrollPasskey.coalescesWith(holding(asFinish(proposal, response)), finishing)).toBe(id);
    expect(enrollPasskey.coalescesWith(holding(asFinish(proposal, another)), finishing)).toBeUndefined();
    expect(enrollPasskey.coalescesWith(holding(proposal), finishing)).toBeUndefined();
    const { state } = openStep(cluster, 1);
    expect(enrollPasskey.coalescesWith(state, { ...finishing, ref: REF })).toBeUndefined();
  });

  it("a replacement that of none", () => {
    expect(replaceMetadata.coalescesWith(holding(proposal), replacing)).toBeUndefined();
  });

  it.each<readonly [string, ReadonlyArray<string>, ReturnType<Command["heldUpBy"]>, ReturnType<Command["heldUpBy"]>]>([
    ["nothing", [], undefined, undefined],
    ["a registration", [metadataLock(ref), refLock(ref)], "own result", "another change"],
    ["a replacement", [metadataLock(ref)], "another change", "another change"],
    ["another approver's change", [metadataLock(REF), refLock(REF)], undefined, undefined],
    ["its key", [keyLock(keyIdentity), sessionLock(response.registrationId)], undefined, undefined],
  ])("is told by what it waits for: %s", (_what, locks, registered, replaced) => {
    const step = openStep(cluster, 1);
    step.draft("undecided").locks = new Map(locks.map((lock) => [lock, OTHER]));
    expect(registerKey.heldUpBy(step.state, registering)).toBe(registered);
    expect(enrollPasskey.heldUpBy(step.state, finishing)).toBe(registered);
    expect(replaceMetadata.heldUpBy(step.state, replacing)).toBe(replaced);
  });
});
