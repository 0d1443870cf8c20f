/** A peer's memory of enrollments. */
import { allRows } from "../../protocol/AllRows.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Admitted, Slice } from "../../protocol/Module.ts";
import type { PeerState } from "../../protocol/PeerState.ts";
import type { SignedStatement } from "../../protocol/Statement.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { Enrollment } from "./Enrollment.ts";
import type { Offered } from "./SessionMessages.ts";
import type { Session } from "./Session.ts";
import { markOf, type SessionMark } from "./SessionMark.ts";
import { enrollmentRows } from "./SessionTables.ts";

/** A session that the writer has made and that the others are asked to keep. */
export interface Mirror {
  readonly session: Session;
  readonly digest: Digest;
  /** Kept only here and in the one answer. */
  readonly invitation: Uint8Array;
  /** The acknowledgements of the others so far. */
  readonly acks: ReadonlyMap<PeerId, SignedStatement>;
  /** Monotonic milliseconds: when the silent ones were last asked. */
  readonly sentAt: number;
}

/** A registrar's request for options at the writer, until it is answered. */
export interface OptionsRequest extends Admitted {
  readonly enrollment: Enrollment;
  /** Absent until every member was found ready. */
  readonly mirror?: Mirror;
}

export interface EnrollmentState {
  /** At the writer: requests for options that are under way, by request key. */
  readonly offers: ReadonlyMap<string, OptionsRequest>;
  /** At the writer: sessions that some members may keep and no caller was told of, by registration id. */
  readonly givenUp: ReadonlyMap<Digest, SessionMark>;
  /** At the writer: the newest options it has sent to an entry peer, for another copy of the same request. */
  readonly offered: ReadonlyMap<string, Offered>;
  /** The stored sessions, by registration id. */
  readonly sessions: ReadonlyMap<Digest, SessionMark>;
  /** By session and by actor: when all of its refused finishes are forgotten, in monotonic milliseconds. */
  readonly refusedFinishes: ReadonlyMap<string, number>;
}

const empty: EnrollmentState = {
  offers: new Map(),
  givenUp: new Map(),
  offered: new Map(),
  sessions: new Map(),
  refusedFinishes: new Map(),
};

export const enrollments: Slice<EnrollmentState> = {
  name: "enrollment",
  empty,
  boot: (view) => ({
    ...empty,
    sessions: new Map(
      allRows(enrollmentRows(view), "sessions").map((row) => [row.session.registrationId, markOf(row)]),
    ),
  }),
};

/** What a peer remembers of enrollments. */
export const enrollmentIn = ({ modules }: Pick<PeerState, "modules">): EnrollmentState =>
  (modules[enrollments.name] as EnrollmentState | undefined) ?? enrollments.empty;
