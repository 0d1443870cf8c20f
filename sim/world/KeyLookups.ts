/** Keys as callers read them of a peer: by the code that the server runs, at one moment. */
import { absurd, Either } from "effect";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Rejection } from "../../core/base/Rejection.ts";
import {
  authorityDescription,
  type CatalogPorts,
  type IdentityPage,
  identityPage,
} from "../../runtime/IdentityCatalog.ts";
import { keyCursorIn, keyCursorOf, keyPage, parseKeyQuery } from "../../runtime/KeyPages.ts";
import { type ReadKey, readKey } from "../../runtime/KeyReads.ts";
import type { Checkers } from "../checkers/Checkers.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import {
  type IdentitiesAsked,
  identityText,
  type KeyReadAnswer,
  type KeyReadAsked,
  type KeysAsked,
  keyText,
  type Shown,
} from "../oracle/KeyReads.ts";
import { AUDIENCE, ISSUER } from "../requests/Commands.ts";
import type { Grants } from "../requests/Grants.ts";
import type { Ground } from "./Ground.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Tampering } from "./Tampering.ts";

interface Ports {
  readonly checkers: Checkers;
  readonly cryptography: Cryptography;
  readonly tampering: Tampering;
}

const bearerOf = (grants: Grants | undefined): ActorCheck =>
  grants === undefined
    ? { _tag: "Refused", reason: "its signature does not verify" }
    : {
        _tag: "Verified",
        claims: {
          iss: ISSUER,
          sub: "reader",
          jti: "reader",
          audience: [AUDIENCE],
          // Reads are judged by the clock of their moment, which is 0 here.
          expiresAt: 1,
          notBefore: undefined,
          issuedAt: 0,
          permissions: grants,
        },
      };

const refused = ({ code }: Rejection): KeyReadAnswer => ({ _tag: "Refused", code });

const shownIn = ({ key, generation, health }: ReadKey): Shown => ({
  keyId: key.keyId,
  text: keyText(key, generation, health),
});

/** What follows the question mark. */
const queryOf = ({ filter: { assetOwner, status }, limit, cursor }: KeysAsked): string => {
  const query = new URLSearchParams({ limit: `${limit}` });
  if (assetOwner !== undefined) query.set("assetOwner", assetOwner);
  if (status !== undefined) query.set("status", status);
  if (cursor !== undefined) query.set("cursor", cursor);
  return query.toString();
};

export class KeyLookups {
  readonly #ground: Ground;
  readonly #ports: Ports;
  readonly #looked;

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
    this.#looked = ports.checkers.hooks("keysLooked");
  }

  /** What a peer answers; undefined where none is there, or rows of it were changed and nobody can tell what it has. */
  ask(peer: SimPeer, asked: KeyReadAsked): KeyReadAnswer | undefined {
    const { state } = peer;
    if (state === undefined || peer.isDamaged || this.#ground.pauses.waitingFor(peer) !== undefined) return undefined;
    const ports: CatalogPorts = {
      view: peer.disk,
      shareVault: peer.signer === undefined ? undefined : peer.keys.shareVault,
      crypto: this.#ports.cryptography.crypto,
      state,
      settings: peer.settings,
      clock: { now: 0, asBefore: [] },
      integrityLost: (where) => {
        peer.dispatch({ _tag: "IntegrityLost", where });
        this.#ground.settle(peer);
      },
    };
    const before = peer.transactions;
    const answer = this.#answer(ports, asked);
    for (const hook of this.#looked) hook(peer, asked, answer, peer.transactions - before);
    return answer;
  }

  #answer(ports: CatalogPorts, asked: KeyReadAsked): KeyReadAnswer {
    switch (asked._tag) {
      case "Identities":
        return Either.match(this.#identities(ports, asked), {
          onLeft: refused,
          onRight: ({ items, nextCursor }) => ({
            _tag: "Page",
            items: items.map((each) => ({ keyId: each.keyId, text: identityText(each, each) })),
            next: nextCursor,
          }),
        });
      case "Authority": {
        const { grants, keyId, authorityId } = asked;
        return Either.match(authorityDescription(ports, bearerOf(grants), keyId, authorityId), {
          onLeft: refused,
          onRight: ({ id, type, commandSchema }) => ({
            _tag: "One",
            text: `${id} ${type} ${JSON.stringify(commandSchema)}`,
          }),
        });
      }
      case "Keys":
        return this.#keys(ports, asked);
      case "Key":
        return Either.match(readKey(ports, asked.keyId, asked.generation), {
          onLeft: refused,
          onRight: (read) => ({ _tag: "One", text: shownIn(read).text }),
        });
      default:
        return absurd(asked);
    }
  }

  #identities(ports: CatalogPorts, { grants, after, limit }: IdentitiesAsked): Either.Either<IdentityPage, Rejection> {
    const page = this.#ports.tampering.identities?.(identityPage) ?? identityPage;
    const slices = page(() => ports, bearerOf(grants), after, limit);
    for (;;) {
      const slice = slices.next();
      if (slice.done === true) return slice.value;
    }
  }

  #keys(ports: CatalogPorts, asked: KeysAsked): KeyReadAnswer {
    const { crypto } = this.#ports.cryptography;
    const query = Either.getOrUndefined(parseKeyQuery(queryOf(asked)));
    const read = this.#ports.tampering.keyCursor?.(keyCursorIn) ?? keyCursorIn;
    const from = query?.cursor === undefined ? "" : read(crypto, query.filter, query.cursor);
    if (query === undefined || from === undefined) return { _tag: "QueryRefused" };
    const slices = keyPage(() => ports, query, from);
    const items: Array<Shown> = [];
    for (;;) {
      const slice = slices.next();
      if (slice.done !== true) items.push(...slice.value.map(shownIn));
      else
        return Either.match(slice.value, {
          onLeft: refused,
          onRight: (next) =>
            next === undefined
              ? { _tag: "Page", items, next }
              : { _tag: "Page", items, next, cursor: keyCursorOf(crypto, query.filter, next) },
        });
    }
  }
}
