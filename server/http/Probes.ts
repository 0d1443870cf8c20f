/**
 * What load balancers ask, without a token: whether this process is alive, whether reads belong here, whether changes
 * do. Each answers for this moment; a peer that stops says no to the latter two before it takes no more connections.
 */
import { Effect } from "effect";
import { readRefusal } from "../../runtime/Reads.ts";
import { answer, type ApiPorts, type Handler } from "./ApiCall.ts";
import { systemEndpoints } from "./endpoints/SystemEndpoints.ts";
import { faultOf, type HttpFault, httpFault } from "./HttpErrors.ts";

const stopping = httpFault("STOPPING", "This peer is stopping.", "Ask another peer.");

const damaged = httpFault(
  "INTEGRITY_FAILURE",
  "Stored records of this peer do not hold, so what it reads may lack some.",
  "Ask another peer; an operator repairs this one from its backup.",
);
const noTokenKeys = httpFault(
  "TOKEN_KEYS_UNAVAILABLE",
  "This peer cannot verify tokens, and every read has one.",
  "Ask another peer; an operator checks auth.jwks of this one.",
);

const notReadable = ({ peer, judgesTokens, draining }: ApiPorts): HttpFault | undefined => {
  if (draining()) return stopping;
  const refusal = readRefusal(peer.standing);
  if (refusal !== undefined) return faultOf(refusal);
  // Such a peer still answers single reads as far as it can.
  if (peer.standing.fitness.integrityFault !== undefined) return damaged;
  return judgesTokens() ? undefined : noTokenKeys;
};

/** GET /v1/custody/system/health: this process answers, whatever else it can do. */
export const health: Handler = () => answer(systemEndpoints.readHealth, 200, { status: "ok" });

/** GET /v1/custody/system/readable: whether registry reads are answered here now, from a registry without doubt. */
export const readable: Handler = ({ ports }) => {
  const fault = notReadable(ports);
  return fault === undefined ? answer(systemEndpoints.readReadable, 200, { readable: true }) : Effect.fail(fault);
};

/** GET /v1/custody/system/ready: whether a mutation would be accepted now. */
export const ready: Handler = ({ ports: { peer, draining } }) =>
  Effect.gen(function* () {
    const members = draining() ? [] : yield* Effect.promise(() => peer.readiness());
    // It may have begun to stop while the members were asked.
    if (draining()) return yield* Effect.fail(stopping);
    if (members.length === 0) return answer(systemEndpoints.readReady, 200, { ready: true });
    const reasons = members.map(({ peerId, reason }) => (peerId === 0 ? reason : `peer ${peerId}: ${reason}`));
    return yield* Effect.fail(
      httpFault(
        "NOT_READY",
        `A mutation would not be accepted now: ${reasons.join("; ")}.`,
        "Bring the named members back; reads go on meanwhile.",
        { members },
      ),
    );
  });
