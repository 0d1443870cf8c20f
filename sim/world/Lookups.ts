/** Versions and policies as callers ask a peer for them: by the code that the server runs, at one moment. */
import { Either } from "effect";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Rejection } from "../../core/base/Rejection.ts";
import type { Resolution } from "../../core/policy/Resolution.ts";
import { resolutionOf } from "../../runtime/PolicyReads.ts";
import { mayRead, readApprover, type ReadPorts } from "../../runtime/Reads.ts";
import type { Checkers } from "../checkers/Checkers.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import type { Bearer, LookupAnswer, LookupAsked } from "../oracle/LookupRequests.ts";
import { AUDIENCE, ISSUER, toReplace } from "../requests/Commands.ts";
import type { Ground } from "./Ground.ts";
import { KeyLookups } from "./KeyLookups.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Tampering } from "./Tampering.ts";

interface Ports {
  readonly checkers: Checkers;
  readonly cryptography: Cryptography;
  readonly tampering: Tampering;
}

/** Reads are judged by the clock of their moment, which says nothing against a token that never ends. */
const NEVER = Number.MAX_SAFE_INTEGER;

const actorOf = (bearer: Bearer): ActorCheck =>
  bearer === "nobody"
    ? { _tag: "Refused", reason: "its signature does not verify" }
    : {
        _tag: "Verified",
        claims: {
          iss: ISSUER,
          sub: "reader",
          jti: "reader",
          audience: [AUDIENCE],
          expiresAt: NEVER,
          notBefore: undefined,
          issuedAt: 0,
          permissions: [bearer === "reader" ? "service.approvers.read" : toReplace.needed],
        },
      };

const refused = ({ code }: Rejection): LookupAnswer => ({ _tag: "Refused", code });

const answered = ({ entries, policyDigest }: Resolution): LookupAnswer => ({
  _tag: "Resolved",
  policyDigest,
  entries: entries.map(({ pointer, outcome }) => {
    const left = Either.isLeft(outcome) ? outcome.left : undefined;
    return { pointer, code: left?.code, duplicateOf: left?.duplicateOf };
  }),
});

export class Lookups {
  readonly #ground: Ground;
  readonly #ports: Ports;
  readonly #looked;
  readonly keys: KeyLookups;

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
    this.#looked = ports.checkers.hooks("looked");
    this.keys = new KeyLookups(ground, ports);
  }

  /** What a peer answers; undefined where none is there, or rows of it were changed and nobody can tell what it has. */
  ask(peer: SimPeer, asked: LookupAsked): LookupAnswer | undefined {
    const { state } = peer;
    if (state === undefined || peer.isDamaged || this.#ground.pauses.waitingFor(peer) !== undefined) return undefined;
    const { crypto } = this.#ports.cryptography;
    const ports: ReadPorts = {
      view: peer.disk,
      crypto,
      state,
      settings: peer.settings,
      clock: { now: 0, asBefore: [] },
      integrityLost: (where) => {
        peer.dispatch({ _tag: "IntegrityLost", where });
        this.#ground.settle(peer);
      },
    };
    this.#ground.chronicle.calls += 1;
    const before = peer.transactions;
    const answer = this.#answer(ports, asked);
    for (const hook of this.#looked) hook(peer, asked, answer, peer.transactions - before);
    return answer;
  }

  #answer(ports: ReadPorts, asked: LookupAsked): LookupAnswer {
    const { tampering, cryptography } = this.#ports;
    const actor = actorOf(asked.bearer);
    const get = tampering.got?.(readApprover) ?? readApprover;
    if (asked._tag === "Get")
      return Either.match(get(ports, actor, asked.text), {
        onLeft: refused,
        onRight: ({ approver }) => ({ _tag: "Got", row: approver }),
      });
    const allowed = mayRead(ports, actor);
    if (Either.isLeft(allowed)) return refused(allowed.left);
    const resolve = tampering.resolved?.(resolutionOf) ?? resolutionOf;
    const lookup = (ref: string) => Either.map(get(ports, actor, ref), ({ approver }) => approver);
    const work = resolve(cryptography, lookup, asked.policy.body);
    for (;;) {
      const step = work.next();
      if (step.done === true) return Either.match(step.value, { onLeft: refused, onRight: answered });
    }
  }
}
