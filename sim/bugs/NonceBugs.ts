/** Bugs in where the nonces of signatures come from, how long they are kept, and what they serve. */
import { Encoding } from "effect";
import { type Session, signingIn, type Spent } from "../../core/commands/signWithKey/SigningState.ts";
import type { Digest, Entropy } from "../../core/base/Digest.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Write } from "../../core/Tables.ts";
import { FOREIGN, FOREIGN_ENTROPY, type PlantedBug } from "./PlantedBug.ts";

interface Memory {
  readonly sessions: ReadonlyMap<string, Session>;
  readonly spent: ReadonlyMap<string, Spent>;
}

/** Edits what a signer has in memory. */
const remembers = (state: PeerState, memory: Partial<Memory>): void =>
  void Object.assign(state.modules["signing"] ?? {}, memory);

/** The sessions of these names that a signer had, whatever has become of them. */
const sessionsOf = (
  all: ReadonlyMap<string, Session>,
  slot: number,
  keys: ReadonlyArray<string>,
): ReadonlyArray<readonly [string, Session]> =>
  keys.flatMap((key): ReadonlyArray<readonly [string, Session]> => {
    const session = all.get(`${slot} ${key}`);
    return session === undefined ? [] : [[key, session]];
  });

const noteAll = (all: Map<string, Session>, slot: number, state: PeerState): void => {
  for (const [key, session] of signingIn(state).sessions) all.set(`${slot} ${key}`, session);
};

export const nonceBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "nonce-kept-after-share",
    changes: "a signer keeps the nonces of what it has signed",
    finds: "K1",
    schedule: "keys",
    tampering: () => {
      const all = new Map<string, Session>();
      return {
        stepped: (_world, { slot }, state) => {
          noteAll(all, slot, state);
          const { sessions, spent } = signingIn(state);
          remembers(state, { sessions: new Map([...sessions, ...sessionsOf(all, slot, [...spent.keys()])]) });
        },
      };
    },
  },
  {
    name: "second-package-served",
    changes: "a signer signs whatever package comes for a session that it has signed",
    finds: "K1",
    schedule: "coordinator-equivocates",
    tampering: () => {
      const all = new Map<string, Session>();
      return {
        stepped: (_world, { slot }, state) => {
          noteAll(all, slot, state);
        },
        delivered: (_world, { slot, state }, message, from) => {
          if (message._tag !== "Sign.Package" || state === undefined) return message;
          const { sessions, spent } = signingIn(state);
          const keys = message.items.map(({ sessionId }) => `${from}/${sessionId}`).filter((key) => spent.has(key));
          remembers(state, {
            sessions: new Map([...sessions, ...sessionsOf(all, slot, keys)]),
            spent: new Map([...spent].filter(([key]) => !keys.includes(key))),
          });
          return message;
        },
      };
    },
  },
  {
    name: "own-commitment-unread",
    changes: "a signer does not look what a package says that it has committed to",
    finds: "K2",
    schedule: "coordinator-equivocates",
    tampering: () => ({
      delivered: (_world, { state }, message, from) => {
        if (message._tag !== "Sign.Package" || state === undefined) return message;
        const { sessions } = signingIn(state);
        const items = message.items.map((item) => {
          const own = sessions.get(`${from}/${item.sessionId}`)?.commitments;
          return { ...item, commitments: item.commitments.map((each) => (each.index === own?.index ? own : each)) };
        });
        return { ...message, items };
      },
    }),
  },
  {
    name: "signer-named-twice",
    changes: "a signer does not look whether a package names a signer twice",
    finds: "K2",
    schedule: "coordinator-equivocates",
    tampering: () => ({
      delivered: (_world, _peer, message) => {
        if (message._tag !== "Sign.Package") return message;
        const items = message.items.map((item) => {
          const commitments = new Map(item.commitments.map((each) => [each.index, each]));
          return { ...item, commitments: [...commitments.values()] };
        });
        return { ...message, items };
      },
    }),
  },
  {
    name: "nonce-stored",
    changes: "the seed of a nonce is stored with the consent",
    finds: "K5",
    schedule: "keys",
    tampering: () => ({
      written: (_world, { state }, writes) => {
        const seeds = state === undefined ? [] : [...signingIn(state).sessions.values()];
        return writes.map((write): Write => {
          if (write.table !== "audit" || write.op === "remove") return write;
          const seed = seeds.find(({ operation }) => write.row.detail === `operation ${operation}`)?.seed;
          if (seed === undefined) return write;
          return { ...write, row: { ...write.row, detail: Encoding.encodeHex(seed.expose()) } };
        });
      },
    }),
  },
  {
    name: "nonce-outlives-process",
    changes: "a signer that is started again has its open sessions back, with their nonces",
    finds: "K1",
    schedule: "crash-between-consent-and-share",
    tampering: () => {
      const last = new Map<number, { readonly process: number; readonly sessions: ReadonlyMap<string, Session> }>();
      return {
        stepped: (_world, { slot, process }, state) => {
          const before = last.get(slot);
          if (!state.fitness.unsealed) return;
          if (before !== undefined && before.process !== process) remembers(state, { sessions: before.sessions });
          last.set(slot, { process, sessions: new Map(signingIn(state).sessions) });
        },
      };
    },
  },
  {
    name: "nonce-by-counter",
    changes: "the seed of a nonce follows from the session's name alone",
    finds: "K1",
    schedule: "traitor-coordinator-other-message",
    tampering: () => ({
      cryptography: (honest) => ({
        ...honest,
        crypto: {
          ...honest.crypto,
          derive: (entropy, label) =>
            honest.crypto.derive(label.startsWith("signing nonce ") ? FOREIGN_ENTROPY : entropy, label),
        },
      }),
    }),
  },
  {
    name: "names-are-entropy",
    changes: "a nonce, and a session's name, is the random bytes of its step themselves",
    finds: "K5",
    schedule: "keys",
    tampering: () => {
      const drawn = new WeakMap<Uint8Array, Entropy>();
      return {
        cryptography: (honest) => ({
          ...honest,
          crypto: {
            ...honest.crypto,
            derive: (entropy, label) => {
              const bytes = honest.crypto.derive(entropy, label);
              drawn.set(bytes, entropy);
              return bytes;
            },
            sha256: (bytes) =>
              (drawn.get(bytes) as string | undefined as Digest | undefined) ?? honest.crypto.sha256(bytes),
          },
        }),
      };
    },
  },
  {
    name: "second-question-is-another",
    changes: "a member takes the second copy of a question for another signature under the same name",
    finds: "K21",
    orFinds: ["K2"],
    schedule: "keys-on-a-lossy-network",
    tampering: () => {
      const asked = new Set<string>();
      return {
        delivered: (_world, { slot }, message) => {
          if (message._tag !== "Sign.Open") return message;
          const name = `${slot} ${message.sessionId}`;
          const isSecond = asked.has(name);
          asked.add(name);
          return isSecond ? { ...message, nonce: message.nonce.toUpperCase() } : message;
        },
      };
    },
  },
  {
    name: "consent-to-another-read",
    changes: "a member finds in a consent of its own another message than it has stored there",
    finds: "K21",
    schedule: "keys-on-a-lossy-network",
    tampering: () => ({
      found: (_peer, table, row) =>
        table === "consents" && row !== undefined ? { ...row, messageDigest: FOREIGN } : row,
    }),
  },
];
