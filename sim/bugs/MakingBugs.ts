/** Bugs in how shares of keys are made, checked and split. */
import type { Digest } from "../../core/base/Digest.ts";
import { rejection } from "../../core/base/Rejection.ts";
import { Either } from "effect";
import { keygenEffects } from "../../core/commands/makeKey/KeygenEffects.ts";
import { KEYGEN } from "../../core/commands/makeKey/Making.ts";
import type { MakingState } from "../../core/commands/makeKey/MakingState.ts";
import { generationLock } from "../../core/commands/keys/KeyLocks.ts";
import { generationKey } from "../../core/commands/keys/Tables.ts";
import type { KeygenMessageOf } from "../../core/commands/makeKey/KeygenMessages.ts";
import type { Write } from "../../core/Tables.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Element, KeyAndShare, SecretsFor, ShareIndex } from "../../core/threshold/ThresholdScheme.ts";
import { elementOf, logarithmOf, numberOf, secretOf, valueAt } from "../crypto/ToyGroup.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import { withScheme } from "./KeyBugs.ts";
import { FOREIGN_ENTROPY, type PlantedBug } from "./PlantedBug.ts";

/** The value at a member of a polynomial that is told by its commitments; the constant is none where it is left out. */
const valueOn = (commitments: ReadonlyArray<Element>, index: ShareIndex): bigint =>
  valueAt(
    commitments.map((each) => logarithmOf(each) ?? 0n),
    index,
  );

/** A key whose shares lie on a polynomial without its highest power. */
const lower = ({ key, share }: KeyAndShare): KeyAndShare => {
  const highest = logarithmOf(key.commitments.at(-1) ?? "") ?? 0n;
  const at = (index: ShareIndex): bigint => highest * BigInt(index) ** BigInt(key.threshold - 1);
  const less = (element: Element, index: ShareIndex): Element => elementOf((logarithmOf(element) ?? 0n) - at(index));
  return {
    key: {
      ...key,
      commitments: key.commitments.with(key.threshold - 1, elementOf(0n)),
      verifyingShares: new Map([...key.verifyingShares].map(([index, each]) => [index, less(each, index)])),
    },
    share: { ...share, secret: secretOf((numberOf(share.secret) ?? 0n) - at(share.index)) },
  };
};

/** The lock that keeps a member from storing what it makes with this share, the last one that it is told. */
const lockAgainst = (
  { state }: SimPeer,
  { sessionId }: KeygenMessageOf<"Keygen.Share">,
  from: PeerId,
): string | undefined => {
  const { sessions } = (state?.modules["makeKey"] as MakingState | undefined) ?? {};
  const { made, told, shares, packages, making } = sessions?.get(sessionId) ?? {};
  const isLast = told !== undefined && shares?.has(from) === false && shares.size + 1 === packages?.size;
  return made === undefined && isLast && making !== undefined ? generationLock(making.keyId) : undefined;
};

export const makingBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "activate-without-certificate",
    changes: "a member takes a generation for active as soon as it has voted for it",
    finds: "S3",
    schedule: "keys",
    peers: 3,
    tampering: () => ({
      written: (_world, { store }, writes) =>
        writes.flatMap((write): ReadonlyArray<Write> => {
          if (write.table !== "preparations" || write.op !== "insert") return [write];
          const { kind, effects } = write.row.proposal;
          if (kind !== KEYGEN) return [write];
          const { generation } = keygenEffects.certified(effects);
          const key = generationKey(generation.keyId, generation.generation);
          const made = store.get("pending", key);
          const activated: Write = { op: "insert", table: "generations", key, row: generation };
          if (made === undefined) return [write, activated];
          return [write, activated, { op: "insert", table: "shares", key, row: { box: made.box } }];
        }),
    }),
  },
  {
    name: "vss-unchecked",
    changes: "a member adds up whatever shares it is told of a new key",
    finds: "K7",
    schedule: "keygen-bad-box",
    tampering: withScheme((real) => ({
      keygenFinish: (seed, me, parties, others, told) => {
        const right: SecretsFor = new Map(
          others.map(({ index, commitments }) => [index, secretOf(valueOn(commitments, me))]),
        );
        const sumOf = (secrets: SecretsFor): bigint =>
          [...secrets.values()].reduce((sum, each) => sum + (numberOf(each) ?? 0n), 0n);
        return Either.map(real.keygenFinish(seed, me, parties, others, right), ({ key, share }) => {
          const secret = secretOf((numberOf(share.secret) ?? 0n) + sumOf(told) - sumOf(right));
          return { key, share: { ...share, secret } };
        });
      },
    })),
  },
  {
    name: "echo-unheard",
    changes: "a member does not compare what it has heard with what the others have",
    finds: "K6",
    schedule: "keygen-equivocated-package",
    tampering: () => ({
      delivered: (_world, { state }, message) => {
        if (message._tag !== "Keygen.Share" || state === undefined) return message;
        const { sessions } = (state.modules["makeKey"] as MakingState | undefined) ?? {};
        return { ...message, heard: sessions?.get(message.sessionId)?.told?.heard ?? message.heard };
      },
    }),
  },
  {
    name: "traitors-of-t",
    changes: "the shares of a new key lack its highest power, so that fewer than sign have all of it",
    finds: "K7",
    schedule: "keys",
    peers: 3,
    tampering: withScheme((real) => ({
      keygenFinish: (...given) => Either.map(real.keygenFinish(...given), lower),
    })),
  },
  {
    name: "repair-seed-reused",
    changes: "a helper splits its share with the same numbers in every repair",
    finds: "K5b",
    schedule: "repair-retry-other-helpers",
    peers: 4,
    tampering: () => ({
      cryptography: (honest) => ({
        ...honest,
        crypto: {
          ...honest.crypto,
          derive: (entropy, label) => {
            const split = /^repair (?!box|session|vault)\S+ \S+ (.*)$/.exec(label)?.[1];
            return split === undefined
              ? honest.crypto.derive(entropy, label)
              : honest.crypto.derive(FOREIGN_ENTROPY, `repair ${split}`);
          },
        },
      }),
    }),
  },
  {
    name: "ends-for-anybody",
    changes: "a member takes any member's word that a key generation is over",
    finds: "S41",
    schedule: "keygen-bad-box",
    tampering: () => ({
      sender: ({ state }, from, { _tag }) =>
        _tag === "Keygen.Ended" ? (state?.cluster.membership?.writer ?? from) : from,
    }),
  },
  {
    name: "ended-with-its-share",
    changes: "a member that is told that a session is over keeps nothing of it, whatever was proposed of it",
    finds: "K8",
    schedule: "keygen-bad-box",
    tampering: () => {
      const over = new Set<string>();
      return {
        delivered: (_world, { slot }, message) => {
          if (message._tag === "Keygen.Ended") over.add(`${slot} ${message.sessionId}`);
          return message;
        },
        written: (_world, { slot, store }, writes) =>
          writes.filter(({ table, key }) => {
            const made = table === "shares" ? store.get("pending", key) : undefined;
            return made === undefined || !over.has(`${slot} ${made.sessionId}`);
          }),
      };
    },
  },
  {
    name: "stores-beside-a-proposal",
    changes: "a member stores what is made in the place of that which a proposal rests on",
    finds: "K8",
    schedule: "keygen-made-twice",
    tampering: () => {
      const taken = new Map<number, () => void>();
      const putBack = (slot: number): void => {
        taken.get(slot)?.();
        taken.delete(slot);
      };
      return {
        delivered: (_world, peer, message, from) => {
          const lock = message._tag === "Keygen.Share" && peer.isIdle ? lockAgainst(peer, message, from) : undefined;
          const locks = peer.state?.undecided.locks as Map<string, Digest> | undefined;
          const holder = lock === undefined ? undefined : locks?.get(lock);
          if (lock === undefined || holder === undefined) return message;
          locks?.delete(lock);
          taken.set(peer.slot, () => locks?.set(lock, holder));
          return message;
        },
        written: (_world, { slot }, writes) => {
          putBack(slot);
          return writes;
        },
        stepped: (_world, { slot }) => putBack(slot),
      };
    },
  },
  {
    name: "makes-one-at-a-time",
    changes: "a member that begins to make a key gives up all others that it was making",
    finds: "K16",
    schedule: "keys",
    tampering: () => ({
      said: ({ slot, state }, message) => {
        const slice = state?.modules["makeKey"] as MakingState | undefined;
        const open = [...(slice?.sessions.values() ?? [])].filter(({ made }) => made === undefined);
        if (message._tag !== "Keygen.Package" || slice === undefined || open.length < 2) return message;
        if (slot === state?.cluster.membership?.writer) return message;
        const over = open.slice(0, -1).map(({ sessionId }) => sessionId);
        const ended = over.map((sessionId) => [sessionId, { sessionId, code: "REPLACED", members: [] }] as const);
        Object.assign(slice, {
          sessions: new Map([...slice.sessions].filter(([name]) => !over.includes(name))),
          ended: new Map([...slice.ended, ...ended]),
        });
        return message;
      },
    }),
  },
  {
    name: "ends-others-too",
    changes: "a member that ends one key generation erases what it has made in others",
    finds: "K16",
    schedule: "keygen-bad-box",
    tampering: () => ({
      delivered: (_world, { state, isIdle }, message, from) => {
        const slice = state?.modules["makeKey"] as MakingState | undefined;
        const writer = state?.cluster.membership?.writer;
        if (message._tag !== "Keygen.Ended" || slice === undefined || !isIdle) return message;
        if (from !== writer && !(state?.cluster.peer?.peerId === writer && slice.sessions.has(message.sessionId)))
          return message;
        for (const mark of slice.pending.values())
          if (!mark.isHeld) Object.assign(mark, { sessionId: message.sessionId });
        return message;
      },
    }),
  },
  {
    name: "making-outlives-destruction",
    changes: "a session that makes shares of a key stays in memory when that is destroyed",
    finds: "K9",
    schedule: "destroy-under-repair-and-refresh",
    tampering: () => {
      /** By process: the sessions that it had after its last step. */
      const had = new Map<string, MakingState["sessions"]>();
      return {
        stepped: (_world, { slot, process, store }, { modules }) => {
          const slice = modules["makeKey"] as MakingState | undefined;
          if (slice === undefined) return;
          const name = `${slot} ${process}`;
          const over = [...(had.get(name) ?? [])].filter(
            ([id, { making }]) =>
              !slice.sessions.has(id) && store.get("custodyKeys", making.keyId)?.status === "DESTROYED",
          );
          if (over.length > 0) Object.assign(slice, { sessions: new Map([...slice.sessions, ...over]) });
          had.set(name, slice.sessions);
        },
      };
    },
  },
  {
    name: "repeated-creation-refused",
    changes: "whoever asks again for a key that was made is told that it exists already",
    finds: "K20",
    schedule: "keys",
    tampering: () => ({
      answered: (_world, answer) =>
        answer._tag === "KeyMade" && !answer.created
          ? { _tag: "Rejected", rejection: rejection("KEY_ALREADY_EXISTS", "A key of this id was made.", "Read it.") }
          : answer,
    }),
  },
];
