/** A peer's memory of keys that are being made. */
import { allRows } from "../../protocol/AllRows.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Standing } from "../../protocol/Command.ts";
import type { Forward } from "../../protocol/Forward.ts";
import type { Slice } from "../../protocol/Module.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { Secret } from "../../threshold/Secret.ts";
import { generationKey, type KeyRows, keyRows } from "../keys/Tables.ts";
import type { KeygenMessageOf, SaidPackage } from "./KeygenMessages.ts";
import type { Making } from "./Making.ts";
import type { Old } from "./SchemeRounds.ts";
import { type Superseded, supersededBy } from "./Superseded.ts";

/** What this peer drew for a session: both serve no other. */
export interface Drawn {
  /** Its polynomial is expanded from this. */
  readonly seed: Secret;
  /** Its key of this session, under which it is told secrets. */
  readonly boxSeed: Secret;
}

/** What this peer tells every other member alone; repeated as it was sent. */
export interface Told {
  /** The digest of all packages that it has. */
  readonly heard: Digest;
  readonly boxes: ReadonlyMap<PeerId, Uint8Array>;
}

/** What the writer asks the others, from the beginning of a session to its end. */
export interface AskedOfMembers {
  /** The request, with its token; it is shown to every member. */
  readonly evidence: Forward;
  /** The processes of the others that take part. */
  readonly processes: ReadonlyMap<PeerId, Digest>;
}

/** A key that all members are making together, at one of them. */
export interface KeygenSession {
  readonly sessionId: Digest;
  readonly making: Making;
  /** At the writer: what it asks the others. */
  readonly asked: AskedOfMembers | undefined;
  /** Of all members, in member order. */
  readonly incarnations: ReadonlyArray<number>;
  /** What is refreshed. */
  readonly old: Old | undefined;
  /** Absent once this peer's share is made. */
  readonly drawn: Drawn | undefined;
  readonly own: SaidPackage;
  readonly packages: ReadonlyMap<PeerId, SaidPackage>;
  readonly told: Told | undefined;
  readonly shares: ReadonlyMap<PeerId, { readonly heard: Digest; readonly box: Uint8Array }>;
  readonly made: KeyRows["pending"] | undefined;
  /** At the writer: what the others say that they have stored. */
  readonly stored: ReadonlyMap<PeerId, Digest>;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  readonly deadline: number;
}

/** What is known of a row of `pending`. */
export interface PendingMark {
  readonly keyId: string;
  readonly sessionId: Digest;
  readonly requestDigest: Digest;
  readonly incarnations: ReadonlyArray<number>;
  /** Monotonic milliseconds: since when this process keeps it; undefined until it has looked at it. */
  readonly since: number | undefined;
  /** Whether an undecided proposal rests on it. */
  readonly isHeld: boolean;
}

/** A session that is over here, and why. */
export type Ended = Omit<KeygenMessageOf<"Keygen.Ended">, "_tag">;

/** How a request stands by rows of its key alone: as long as they do not change, and nothing is made for it. */
export interface Judged {
  readonly keyId: string;
  readonly standing: Exclude<Standing, { readonly _tag: "Possible" }>;
}

export interface MakingState {
  readonly sessions: ReadonlyMap<Digest, KeygenSession>;
  /** By generation key, as the rows. */
  readonly pending: ReadonlyMap<string, PendingMark>;
  /** The newest, oldest first: none is opened again. */
  readonly ended: ReadonlyMap<Digest, Ended>;
  /** Refreshes applied here that not every member is known to have applied, by proposal: their old shares wait. */
  readonly superseded: ReadonlyMap<Digest, Superseded>;
  /** Packages of sessions that are not known here yet: the newest few of each member. */
  readonly early: ReadonlyMap<PeerId, ReadonlyArray<KeygenMessageOf<"Keygen.Package">>>;
  /** At the writer: requests in its queue. */
  readonly judged: ReadonlyMap<Digest, Judged>;
}

/** The mark of a row that nothing is known to rest on. */
export const markOf = (
  { keyId, sessionId, requestDigest, incarnations }: KeyRows["pending"],
  since: number | undefined,
): PendingMark => ({ keyId, sessionId, requestDigest, incarnations, since, isHeld: false });

const empty: MakingState = {
  sessions: new Map(),
  pending: new Map(),
  ended: new Map(),
  superseded: new Map(),
  early: new Map(),
  judged: new Map(),
};

export const makings: Slice<MakingState> = {
  name: "makeKey",
  empty,
  boot: (view) => ({
    ...empty,
    pending: new Map(
      allRows(keyRows(view), "pending").map((row) => [
        generationKey(row.keyId, row.generation),
        markOf(row, undefined),
      ]),
    ),
    superseded: new Map(
      allRows(view, "outbox").flatMap(({ proposalId }) => {
        const certificate = view.get("certificates", proposalId);
        const superseded = certificate && supersededBy(certificate.proposal);
        return superseded === undefined ? [] : [[proposalId, superseded] as const];
      }),
    ),
  }),
};
