/** Bugs of enrollment: in what a session is, in who may complete it, and in what is left of it. */
import { enrollmentIn, type EnrollmentState } from "../../core/commands/enrollPasskey/EnrollmentState.ts";
import { effectsIn } from "../models/Effects.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { Rows, Write } from "../../core/Tables.ts";
import { type PlantedBug, rows, without } from "./PlantedBug.ts";
import type { Tampering } from "../world/Tampering.ts";

const withCrypto = (change: (crypto: Crypto) => Partial<Crypto>) => (): Tampering => ({
  cryptography: (honest) => ({ ...honest, crypto: { ...honest.crypto, ...change(honest.crypto) } }),
});

const longerBy = (row: Rows["sessions"], millis: number): Rows["sessions"] => ({
  ...row,
  session: { ...row.session, expiresAt: row.session.expiresAt + millis },
});

/** Sessions last by so many milliseconds longer, as every peer finds them. */
const lasting = (longer: (row: Rows["sessions"]) => number) => (): Tampering => ({
  found: (_peer, table, row) => {
    if (table !== "sessions" || row === undefined) return row;
    const known = row as Rows["sessions"];
    const other: object = longerBy(known, longer(known));
    return other as typeof row;
  },
});

/** The row of the session that a preparation reserves, as if that had completed it. */
const completedEarly = (): Tampering => ({
  written: (_world, peer, writes) => [
    ...writes,
    ...writes.flatMap((write): ReadonlyArray<Write> => {
      if (write.table !== "preparations" || write.op !== "insert") return [];
      const { registrationId, responseDigest, ref } = effectsIn(write.row.proposal);
      const row = registrationId && peer.store.get("sessions", registrationId);
      if (!row || responseDigest === undefined) return [];
      return [
        {
          op: "replace",
          table: "sessions",
          key: row.session.registrationId,
          row: { ...row, completed: { responseDigest, ref } },
        },
      ];
    }),
  ],
});

/** The counter starts again with every new revision of a passkey's metadata. */
const countsAgain = (): Tampering => ({
  written: (_world, peer, writes) => [
    ...writes,
    ...writes.flatMap((write): ReadonlyArray<Write> => {
      const row = write.table === "approvers" && write.op === "replace" && peer.store.get("observations", write.key);
      return row ? [{ op: "replace", table: "observations", key: write.key, row: { ...row, signCount: 0 } }] : [];
    }),
  ],
});

/** The writer forgets no answer with an invitation, though nobody can use it any more. */
const remembersAll = (): Tampering => {
  let told: EnrollmentState["offered"] = new Map();
  return {
    stepped: (_world, _peer, state) => {
      const enrollment = enrollmentIn(state);
      if (enrollment.offered.size === 0 || enrollment.offered === told) return;
      told = new Map([...told, ...enrollment.offered]);
      Object.assign(enrollment, { offered: told });
    },
  };
};

export const enrollmentBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "unknown-credentials",
    changes: "members do not look whether a credential is registered",
    finds: "S8",
    schedule: "finish-race-two-peers",
    tampering: () => ({
      found: (_peer, table, row) => (table === "credentials" ? undefined : row),
      written: (_world, peer, writes) =>
        writes.map((write) =>
          write.table === "credentials" &&
          write.op === "insert" &&
          peer.store.get("credentials", write.key) !== undefined
            ? { ...write, op: "replace" }
            : write,
        ),
    }),
  },
  {
    name: "other-response-on-record",
    changes: "a completed session names another response than the one that was applied",
    finds: "S15",
    schedule: "finish-race-two-peers",
    tampering: rows("sessions", (row) => ({
      ...row,
      completed: row.completed && { ...row.completed, responseDigest: row.session.registrationId },
    })),
  },
  {
    name: "reserved-is-completed",
    changes: "a response that is only reserved completes its session",
    finds: "S16",
    schedule: "finish-race-two-peers",
    tampering: completedEarly,
  },
  {
    name: "counter-starts-again",
    changes: "a replacement of metadata takes the authenticator's counter back",
    finds: "S24",
    schedule: "finish-race-two-peers",
    tampering: countsAgain,
  },
  {
    name: "room-for-everybody",
    changes: "the writer takes every session for a completed one",
    finds: "S10",
    schedule: "few-sessions",
    peers: 1,
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        const { sessions } = enrollmentIn(state);
        if (!(sessions instanceof Map)) return;
        for (const [name, mark] of enrollmentIn(state).sessions)
          if (!mark.isCompleted) sessions.set(name, { ...mark, isCompleted: true });
      },
    }),
  },
  {
    name: "failures-forgotten",
    changes: "the writer does not count what failed attempts have left at members",
    finds: "S10",
    schedule: "few-sessions",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        const { givenUp } = enrollmentIn(state);
        if (givenUp instanceof Map) givenUp.clear();
      },
    }),
  },
  {
    name: "counted-for-whoever-asks",
    changes: "the writer takes all unfinished sessions for those of the registrar that asks",
    finds: "S56",
    schedule: "few-sessions",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        const { offers, sessions } = enrollmentIn(state);
        const asker = [...offers.values()].at(-1)?.actor;
        if (asker === undefined || !(sessions instanceof Map)) return;
        for (const [name, mark] of enrollmentIn(state).sessions) sessions.set(name, { ...mark, registrar: asker });
      },
    }),
  },
  {
    name: "refusals-forgotten",
    changes: "a peer does not count how many responses it has refused",
    finds: "S10",
    schedule: "few-refused-finishes",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        const { refusedFinishes } = enrollmentIn(state);
        if (refusedFinishes instanceof Map) refusedFinishes.clear();
      },
    }),
  },
  {
    name: "any-number-for-a-request",
    changes: "a member does not remember which request it keeps a session for",
    finds: "S10",
    schedule: "lying-session-writer",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        const { sessions } = enrollmentIn(state);
        if (sessions instanceof Map)
          for (const [name, mark] of enrollmentIn(state).sessions)
            if (mark.request !== name) sessions.set(name, { ...mark, request: name });
      },
    }),
  },
  {
    name: "acknowledged-and-forgotten",
    changes: "the last member acknowledges sessions and stores none",
    finds: "S14",
    orFinds: ["S2"],
    schedule: "finish-race-two-peers",
    tampering: () => ({
      written: (world, peer, writes) =>
        peer.slot === world.plan.peers
          ? (without((write) => write.table === "sessions")().written?.(world, peer, writes) ?? writes)
          : writes,
    }),
  },
  {
    name: "missing-credential-index",
    changes: "no member stores who has a credential",
    finds: "S13",
    schedule: "finish-race-two-peers",
    tampering: without((write) => write.table === "credentials"),
  },
  {
    name: "invitation-for-handle",
    changes: "the user handle of a session is its invitation",
    finds: "S29",
    schedule: "finish-race-two-peers",
    tampering: withCrypto((crypto) => ({
      derive: (seed, label) => crypto.derive(seed, label.replace("user handle", "invitation")),
    })),
  },
  {
    name: "late-finisher",
    changes: "every member takes a session for as long as it likes",
    finds: "S30",
    schedule: "finish-across-crashes",
    tampering: lasting(() => 60_000),
  },
  {
    name: "expires-early",
    changes: "an enrollment that nobody has completed is over half a second before its deadline",
    finds: "S61",
    schedule: "session-capacity-edge",
    tampering: () => ({
      ...lasting(({ completed }) => (completed === undefined ? -500 : 0))(),
      ...rows("sessions", (row) => (row.completed === undefined ? row : longerBy(row, 500)))(),
    }),
  },
  {
    name: "retried-for-an-hour",
    changes: "the response that has completed an enrollment succeeds after its deadline too",
    finds: "S61",
    schedule: "promote-on-a-bad-network",
    tampering: lasting(({ completed }) => (completed === undefined ? 0 : 3_600_000)),
  },
  {
    name: "completed-takes-room",
    changes: "the writer takes completed enrollments for unfinished ones",
    finds: "S56",
    schedule: "few-sessions",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        const { sessions } = enrollmentIn(state);
        if (!(sessions instanceof Map)) return;
        for (const [name, mark] of enrollmentIn(state).sessions)
          if (mark.isCompleted) sessions.set(name, { ...mark, isCompleted: false });
      },
    }),
  },
  {
    name: "invitations-remembered",
    changes: "the writer forgets no answer with an invitation before its process ends",
    finds: "S10",
    schedule: "few-sessions",
    tampering: remembersAll,
  },
];
