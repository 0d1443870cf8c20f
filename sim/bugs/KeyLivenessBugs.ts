/** Bugs by which what has to come about with keys does not, or does not end. */
import { Secret } from "../../core/threshold/Secret.ts";
import { withScheme } from "./KeyBugs.ts";
import { FOREIGN, type PlantedBug, rows } from "./PlantedBug.ts";

interface Opened {
  readonly openedAt: number;
}

/** After so long a session is let go of. */
const SESSION_MILLIS = 10_000;

export const keyLivenessBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "signs-when-settled",
    changes: "a member signs for nobody while it has something undecided",
    finds: "LK2",
    schedule: "writer-lost-before-activation",
    steps: 1_500,
    tampering: () => ({
      delivered: (_world, { state }, message) =>
        message._tag === "Sign.Open" && (state?.undecided.preparations.size ?? 0) > 0
          ? { ...message, generation: message.generation + 1_000 }
          : message,
    }),
  },
  {
    name: "signs-with-all-only",
    changes: "a signature waits for every member",
    finds: "LK2",
    schedule: "keys",
    peers: 3,
    tampering: () => ({
      delivered: (world, _peer, message) =>
        message._tag === "Sign.Open" && world.peers.some(({ state }) => state === undefined)
          ? { ...message, generation: message.generation + 1_000 }
          : message,
    }),
  },
  {
    name: "signing-forgets-peers",
    changes: "a peer that is asked to sign answers nobody",
    finds: "LK1",
    orFinds: ["LK2"],
    schedule: "keys",
    peers: 3,
    tampering: () => ({
      delivered: (_world, _peer, message) =>
        message._tag === "Sign.Open" ? { ...message, generation: message.generation + 1_000 } : message,
    }),
  },
  {
    name: "echo-ignored",
    changes: "the boxes of a refresh are lost, so that none is ever made",
    finds: "LK3",
    orFinds: ["L4", "K17"],
    schedule: "keys",
    peers: 3,
    tampering: () => ({
      said: (_peer, message) => (message._tag === "Keygen.Stored" ? { ...message, transcript: FOREIGN } : message),
    }),
  },
  {
    name: "repair-unanswered",
    changes: "no helper's sum is right",
    finds: "LK4",
    schedule: "restore-after-refresh",
    tampering: withScheme(() => ({ repairSum: () => new Secret(new Uint8Array(8).fill(1)) })),
  },
  {
    name: "sessions-never-over",
    changes: "a signer keeps sessions whose coordinator has gone",
    finds: "K16",
    schedule: "keys-and-late-messages",
    steps: 1_500,
    tampering: () => {
      /** By process: the sessions that it had after its last step. */
      const had = new Map<string, ReadonlyMap<string, Opened>>();
      return {
        stepped: (_world, { slot, process, decidedAt }, { modules }) => {
          const slice = modules["signing"] as { readonly sessions: Map<string, Opened> } | undefined;
          if (slice === undefined) return;
          const name = `${slot} ${process}`;
          for (const [key, session] of had.get(name) ?? [])
            if (decidedAt / 1_000 - session.openedAt >= SESSION_MILLIS) slice.sessions.set(key, session);
          had.set(name, new Map(slice.sessions));
        },
      };
    },
  },
  {
    name: "consent-for-an-hour",
    changes: "a consent lasts an hour longer than its operation",
    finds: "K11",
    schedule: "keys",
    tampering: rows("consents", (row) => ({ ...row, expiresAt: row.expiresAt + 3_600_000 })),
  },
];
