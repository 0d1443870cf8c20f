/** What the pins of a policy come to here (contract 2.6, 7). Reads only. */
import { Effect, Either } from "effect";
import type { Resolution, ResolvedEntry } from "../../core/policy/Resolution.ts";
import { resolutionOf } from "../../runtime/PolicyReads.ts";
import { readRefusal } from "../../runtime/Reads.ts";
import { answer, authorized, type Handler, holderOf } from "./ApiCall.ts";
import { bodyOf } from "./ApproverHandlers.ts";
import { policyEndpoints } from "./endpoints/PolicyEndpoints.ts";
import { faultOf } from "./HttpErrors.ts";

const shownEntry = ({ pointer, ref, outcome }: ResolvedEntry) => {
  const place = { pointer, ...(ref === undefined ? {} : { ref }) };
  if (Either.isLeft(outcome)) return { ...place, resolved: false as const, ...outcome.left };
  const who = outcome.right;
  // Of an approver with a passkey, no bare signature of its key counts.
  return who.type === "WEBAUTHN"
    ? { ...place, resolved: true as const, ...who, accepts: "WEBAUTHN_ASSERTION" as const }
    : { ...place, resolved: true as const, ...who, accepts: "SIGNATURE" as const };
};

const shown = ({ entries, policyDigest }: Resolution) => ({
  resolved: policyDigest !== undefined,
  ...(policyDigest === undefined ? {} : { policyDigest: `sha256:${policyDigest}` }),
  entries: entries.map(shownEntry),
});

/**
 * POST /v1/custody/policies/resolve.
 *
 * A policy that does not resolve is answered 200 with `resolved: false`. The question was what each entry comes to, and
 * it is answered in full, which a problem could not: it has no place for the entries that did resolve, and bounds its
 * errors. It fails closed all the same: there is no digest to go on with, nothing is stored, and whoever acts on a
 * policy resolves it again. 400 is for what cannot be read as a policy; the exact read's refusals hold here too.
 */
export const resolve: Handler = (call) =>
  Effect.gen(function* () {
    const { peer, backend, longReads } = call.ports;
    const { actor } = yield* authorized(call);
    const refusal = readRefusal(peer.standing);
    if (refusal !== undefined) return yield* Effect.fail(faultOf(refusal));
    const body = yield* bodyOf(call, actor);
    // Each lookup judges again whether this peer may be read: it may be sealed meanwhile.
    const lookup = (ref: string) => Either.map(peer.read(actor, ref), ({ approver }) => approver);
    const resolution = yield* longReads.run(holderOf(actor), resolutionOf(backend, lookup, body));
    const answered = answer(policyEndpoints.resolvePolicy, 200, shown(yield* Either.mapLeft(resolution, faultOf)));
    return { ...answered, caller: holderOf(actor) };
  });
