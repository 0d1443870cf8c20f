import { describe, expect, it } from "vitest";
import { approverIn, asFinish, asReplacement } from "../../../properties/cluster/AlteredEffects.ts";
import { prepared } from "../../../properties/cluster/Prepared.ts";
import type { Digest } from "../../base/Digest.ts";
import { locksOf } from "../../protocol/Command.ts";
import type { Proposal } from "../../protocol/Proposal.ts";
import { commands } from "../Commands.ts";

const OTHER = "ab".repeat(32) as Digest;
const registrationId = "cd".repeat(32) as Digest;
const { proposal } = prepared().preparation;
const locks = (of: Proposal): ReadonlyArray<string> => locksOf(commands, of);

describe("the locks of a proposal", () => {
  const { keyIdentity, ref } = approverIn(proposal);
  const ofKey = [`key:${keyIdentity}`, `ref:${ref}`, `meta:${ref}`];

  it("are the key, the approver and its metadata where a key is registered", () => {
    expect(locks(proposal)).toEqual(ofKey);
  });

  it("are the credential and the session too, where an enrollment is finished", () => {
    const finish = asFinish(proposal, { registrationId, responseDigest: OTHER }, { credentialIdentity: OTHER });
    expect(locks(finish)).toEqual([...ofKey, `cred:${OTHER}`, `session:${registrationId}`]);
  });

  it("are the metadata alone where that is replaced", () => {
    expect(locks(asReplacement(proposal, 1))).toEqual([`meta:${ref}`]);
  });
});
