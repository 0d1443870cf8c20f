/** Bugs in how keys are made, kept, used and ended. */
import { Either } from "effect";
import { signingIn } from "../../core/commands/signWithKey/SigningState.ts";
import type { Suite } from "../../core/threshold/Suite.ts";
import { Secret } from "../../core/threshold/Secret.ts";
import type { ThresholdScheme } from "../../core/threshold/ThresholdScheme.ts";
import type { Rows, Write } from "../../core/Tables.ts";
import type { Tampering } from "../world/Tampering.ts";
import { FOREIGN, type PlantedBug, rows, without } from "./PlantedBug.ts";

/** Peers compute with other suites. */
export const withSuites = (of: (suite: Suite) => Suite) => (): Tampering => ({
  cryptography: (honest) => {
    const { suites } = honest.keyCrypto;
    return { ...honest, keyCrypto: { ...honest.keyCrypto, suites: suites.map(of) } };
  },
});

/** Peers compute with other schemes of shares. */
export const withScheme = (change: (real: ThresholdScheme) => Partial<ThresholdScheme>) =>
  withSuites((suite) =>
    suite.shared === undefined ? suite : { ...suite, shared: { ...suite.shared, ...change(suite.shared) } },
  );

const SEED = new Secret(new Uint8Array(32).fill(3));

/** The state of a generation that a replacement would write, but for this. */
const stateStays = (from: Rows["generations"]["state"]) =>
  rows("generations", (row) => (row.state === from ? { ...row, state: "ACTIVE" } : row));

/** What a peer finds of a key while a session of it is open that began before it changed: how it was then. */
const asWhenOpened: NonNullable<Tampering["found"]> = ({ state }, table, row) => {
  if (state === undefined || row === undefined) return row;
  const sessions = [...signingIn(state).sessions.values()];
  if (table === "custodyKeys") {
    const key = row as Rows["custodyKeys"];
    const open = sessions.find(({ request }) => request.keyId === key.keyId);
    // One of the variants of Rows for each table: the compiler cannot see that the table was compared.
    return open === undefined ? row : ({ ...key, generation: open.generation, status: "ACTIVE" } as typeof row);
  }
  if (table !== "generations") return row;
  const generation = row as Rows["generations"];
  const isOpen = sessions.some(
    (each) => each.request.keyId === generation.keyId && each.generation === generation.generation,
  );
  return isOpen ? ({ ...generation, state: "ACTIVE" } as typeof row) : row;
};

/** Another element. */
export const bump = (digits: string): string => `${digits.slice(0, -1)}${digits.endsWith("0") ? "1" : "0"}`;

export const keyBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "nonce-used-again",
    changes: "the nonces of all signatures come from one seed",
    finds: "K1",
    schedule: "keys",
    tampering: withScheme((real) => ({
      commit: (_seed, share) => real.commit(SEED, share),
      sign: (_seed, held, commitments, message) => real.sign(SEED, held, commitments, message),
    })),
  },
  {
    name: "share-before-consent",
    changes: "the consent to a signature is not stored",
    finds: "K2",
    orFinds: ["K4", "S32"],
    schedule: "keys",
    tampering: without(({ table }) => table === "consents"),
  },
  {
    name: "consent-any-message",
    changes: "a consent is stored for another message than the one that is signed",
    finds: "K2",
    orFinds: ["K4"],
    schedule: "keys",
    tampering: rows("consents", (row) => ({ ...row, messageDigest: FOREIGN })),
  },
  {
    name: "consent-goes-early",
    changes: "a peer removes a consent when it gives the next",
    finds: "K11",
    schedule: "keys",
    tampering: () => {
      const last = new Map<number, string>();
      return {
        written: (_world, { slot }, writes) => {
          const given = writes.find(({ table, op }) => table === "consents" && op === "insert");
          const before = last.get(slot);
          if (given === undefined) return writes;
          last.set(slot, given.key);
          return before === undefined ? writes : [...writes, { op: "remove", table: "consents", key: before }];
        },
      };
    },
  },
  {
    name: "signature-of-one",
    changes: "a peer answers with a signature that nobody has consented to",
    finds: "K4",
    schedule: "keys",
    tampering: () => ({
      answered: (_world, answer) => (answer._tag === "Signed" ? { ...answer, operationId: FOREIGN } : answer),
    }),
  },
  {
    name: "share-in-error-detail",
    changes: "a refusal of a member shows the seed of its nonce",
    finds: "K5",
    schedule: "keys",
    tampering: () => {
      let last = new Uint8Array(0);
      return {
        cryptography: (honest) => ({
          ...honest,
          keyCrypto: {
            ...honest.keyCrypto,
            boxes: {
              ...honest.keyCrypto.boxes,
              seal: (seed, theirs, place, secret) => {
                last = Uint8Array.from(secret.expose());
                return honest.keyCrypto.boxes.seal(seed, theirs, place, secret);
              },
            },
          },
        }),
        said: (_peer, message) =>
          message._tag === "Keygen.Share" ? { ...message, box: Uint8Array.of(...message.box, ...last) } : message,
      };
    },
  },
  {
    name: "box-in-clear",
    changes: "a share is stored as it is",
    finds: "K5",
    schedule: "keys",
    tampering: () => ({
      cryptography: (honest) => ({
        ...honest,
        newKeys: () => {
          const keys = honest.newKeys();
          return {
            ...keys,
            shareVault: { seal: (_place, secret) => secret.expose().slice(), open: (_place, box) => new Secret(box) },
          };
        },
      }),
    }),
  },
  {
    name: "generation-reused",
    changes: "the generation before stays active",
    finds: "K6",
    schedule: "keys",
    tampering: stateStays("HISTORICAL"),
  },
  {
    name: "another-transcript",
    changes: "members store what they have agreed on otherwise",
    finds: "K6",
    orFinds: ["S13", "S11"],
    schedule: "keys",
    peers: 3,
    tampering: () => ({
      written: (_world, { slot }, writes) =>
        writes.map(
          (write): Write =>
            write.table === "generations" && write.op === "insert" && slot === 2
              ? { ...write, row: { ...write.row, transcript: FOREIGN } }
              : write,
        ),
    }),
  },
  {
    name: "refresh-constant-term",
    changes: "a refresh adds something to the key",
    finds: "K7",
    orFinds: ["S30", "S14"],
    schedule: "keys",
    tampering: withScheme((real) => ({
      refreshFinish: (seed, old, others, received) =>
        Either.map(real.refreshFinish(seed, old, others, received), (made) => ({
          ...made,
          key: { ...made.key, commitments: made.key.commitments.with(0, bump(made.key.commitments[0] ?? "") as never) },
        })),
    })),
  },
  {
    name: "wrong-share-stored",
    changes: "the share that a member stores is not the one that it made",
    finds: "K7",
    schedule: "keys",
    tampering: () => ({
      cryptography: (honest) => ({
        ...honest,
        newKeys: () => {
          const keys = honest.newKeys();
          const { seal } = keys.shareVault;
          const spoiled = (secret: Secret): Secret =>
            new Secret(secret.expose().map((byte, at) => (at === 7 ? byte ^ 1 : byte)));
          return {
            ...keys,
            shareVault: { ...keys.shareVault, seal: (place, secret, entropy) => seal(place, spoiled(secret), entropy) },
          };
        },
      }),
    }),
  },
  {
    name: "pending-left-behind",
    changes: "what was made stays when it is certified",
    finds: "K8",
    orFinds: ["S13", "K9"],
    schedule: "keys",
    tampering: without(({ table, op }) => table === "pending" && op === "remove"),
  },
  {
    name: "refresh-keeps-old-share",
    changes: "the shares before a refresh stay",
    finds: "K8",
    orFinds: ["K9"],
    schedule: "keys",
    tampering: without(({ table, op }) => table === "shares" && op === "remove"),
  },
  {
    name: "destroyed-share-stays",
    changes: "a generation is destroyed, and its share stays",
    finds: "K9",
    schedule: "keys",
    tampering: () => ({
      written: (_world, _peer, writes) =>
        writes.some(
          (write) => write.table === "generations" && write.op !== "remove" && write.row.state === "DESTROYED",
        )
          ? writes.filter(({ table, op }) => table !== "shares" || op !== "remove")
          : writes,
    }),
  },
  {
    name: "erased-box-elsewhere",
    changes: "the box of a destroyed share stays, in a row of another kind",
    finds: "K9",
    schedule: "keys",
    tampering: () => {
      let made: Rows["pending"] | undefined;
      return {
        written: (_world, { store }, writes) => {
          for (const write of writes) if (write.table === "pending" && write.op !== "remove") made ??= write.row;
          return writes.flatMap((write): ReadonlyArray<Write> => {
            const share =
              write.table === "shares" && write.op === "remove" ? store.get("shares", write.key) : undefined;
            if (made === undefined || share === undefined) return [write];
            const left: Write = { op: "insert", table: "pending", key: write.key, row: { ...made, box: share.box } };
            return [write, left];
          });
        },
      };
    },
  },
  {
    name: "signature-unverified",
    changes: "a coordinator answers with whatever comes of the shares",
    finds: "K14",
    schedule: "keys",
    tampering: withScheme((real) => ({
      aggregate: (key, commitments, message, shares) =>
        Either.map(real.aggregate(key, commitments, message, shares), bump),
    })),
  },
  {
    name: "custody-key-as-approver",
    changes: "no member remembers that a key is the service's own",
    finds: "K15",
    orFinds: ["S13"],
    schedule: "keys",
    tampering: without(
      (write) => write.table === "keys" && write.op === "insert" && write.row.id.startsWith("custody:"),
    ),
  },
  {
    name: "seal-keeps-nonces",
    changes: "a signer that is sealed keeps its sessions, with their nonces",
    finds: "K5",
    schedule: "seal-mid-session",
    tampering: () => {
      const last = new Map<number, ReadonlyMap<string, unknown>>();
      return {
        stepped: (_world, { slot }, state) => {
          const { sessions } = signingIn(state);
          if (state.fitness.unsealed) last.set(slot, new Map(sessions));
          const kept = last.get(slot);
          if (!state.fitness.unsealed && kept !== undefined && kept.size > 0)
            Object.assign(state.modules["signing"] ?? {}, { sessions: kept });
        },
      };
    },
  },
  {
    name: "rotated-key-signs",
    changes: "a session that was opened before a rotation signs after it",
    finds: "K9",
    orFinds: ["S13"],
    schedule: "rotate-under-signing",
    tampering: () => ({ found: asWhenOpened }),
  },
  {
    name: "refreshed-key-signs",
    changes: "a session that was opened before a refresh signs after it, with the share before",
    finds: "K9",
    orFinds: ["K8", "S13"],
    schedule: "refresh-under-signing",
    tampering: () => ({
      ...without(({ table, op }) => table === "shares" && op === "remove")(),
      found: asWhenOpened,
    }),
  },
  {
    name: "destroyed-key-signs",
    changes: "a destroyed key keeps its shares, and sessions that were opened before sign",
    finds: "K9",
    orFinds: ["S13"],
    schedule: "destroy-under-signing",
    tampering: () => ({
      ...without(({ table, op }) => table === "shares" && op === "remove")(),
      found: asWhenOpened,
    }),
  },
  {
    name: "repair-unverified",
    changes: "whatever the helpers of a repair tell is taken for the lost share",
    finds: "K7",
    orFinds: ["LK4"],
    schedule: "repair-with-traitor-helper",
    tampering: withScheme((real) => ({
      repairJoin: (sums, _key, index) =>
        Either.fromNullable(real.repairSum(sums), () => ({ indexes: [], why: "no scalar" })).pipe(
          Either.map((secret) => ({ index, secret })),
        ),
    })),
  },
  {
    name: "session-hoarder",
    changes: "a signer lets go of no session",
    finds: "K16",
    schedule: "keys",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        const slice = state.modules["signing"] as { sessions: Map<string, object> } | undefined;
        const [first] = slice?.sessions.values() ?? [];
        if (slice === undefined || first === undefined) return;
        for (let at = 0; at < 1_100; at++) slice.sessions.set(`hoarded ${at}`, first);
      },
    }),
  },
  {
    name: "place-kept",
    changes: "a coordinator frees no place when it answers",
    finds: "K16",
    schedule: "keys-in-line",
    tampering: () => {
      const kept = new Map<string, object>();
      return {
        stepped: (_world, { slot, process }, state) => {
          const slice = state.modules["signing"] as { requests: Map<string, object> } | undefined;
          for (const [requestId, request] of slice?.requests ?? [])
            kept.set(`${slot} ${process} ${requestId}`, request);
          for (const [name, request] of kept) {
            const [at, of, requestId = ""] = name.split(" ");
            if (Number(at) === slot && Number(of) === process) slice?.requests.set(requestId, request);
          }
        },
      };
    },
  },
  {
    name: "imposter-off-by-one",
    changes: "the member next to the one whose share was wrong is named",
    finds: "K17",
    // Those who are named wrongly are asked no more, and then others are asked again.
    orFinds: ["K22"],
    schedule: "traitor-signer-bad-z",
    tampering: withScheme((real) => ({
      aggregate: (key, commitments, message, shares) =>
        Either.mapLeft(real.aggregate(key, commitments, message, shares), (blame) => ({
          ...blame,
          indexes: commitments.flatMap(({ index }) => (blame.indexes.includes(index) ? [] : [index])),
        })),
    })),
  },
  {
    name: "begins-again",
    changes: "a member that was restarted begins a session anew that it had told its part of",
    finds: "K17",
    schedule: "keygen-crash-each-round",
    tampering: () => ({
      delivered: (_world, { state }, message) =>
        message._tag === "Keygen.Open" ? { ...message, process: state?.fitness.process ?? message.process } : message,
    }),
  },
];
