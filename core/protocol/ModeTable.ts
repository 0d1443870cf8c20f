/**
 * What a peer handles in which mode. A new message, operator's event or mode does not compile before it has its place
 * here; timers have their names from here, and modules state the same for their own (Module.ts). `Peer.ts` looks it up
 * before it hands anything on: no handler runs in a mode that drops it, and some act differently while recovering.
 */
import type { Event } from "./Event.ts";
import type { ProtocolMessage } from "./Message.ts";
import { type Mode, modes } from "./Mode.ts";

/** Done as asked; answered with a refusal that names the mode's reason; or passed over. */
export type Handling = "runs" | "refuses" | "drops";

/** One for each of {@link modes}, in that order. */
type Row<H extends Handling> = Cells<typeof modes, H>;
type Cells<M extends ReadonlyArray<unknown>, H> = { readonly [I in keyof M]: H };

/** Messages whose sender waits for an answer of this very peer. */
type RefusableMessage = "Forward";
type RefusableEvent =
  | "Initialize"
  | "DeclareRestore"
  | "RotateIntegrity"
  | "Rekey"
  | "Operated"
  | "Promote"
  | "Command";

/** Messages and timers have rows of their own. */
type OtherEvent = Exclude<Event["_tag"], "Deliver" | "TimerFired">;

type MessageRows = {
  readonly [M in ProtocolMessage["_tag"]]: Row<M extends RefusableMessage ? Handling : "runs" | "drops">;
};
type EventRows = { readonly [E in OtherEvent]: Row<E extends RefusableEvent ? Handling : "runs" | "drops"> };
type TimerRows = { readonly [timer: string]: Row<"runs" | "drops"> };

const Y = "runs";
const N = "refuses";
const o = "drops";

// biome-ignore format: one column for each mode
export const messageRows = {
  //                blank sealed verifying founding damaged quarantined announcing recovering joining active promoting
  GenesisCard:     [o,    o,     o,        Y,       Y,      Y,          Y,         Y,         Y,      Y,      Y],
  GenesisVote:     [o,    o,     o,        Y,       Y,      Y,          Y,         Y,         Y,      Y,      Y],
  GenesisPinned:   [o,    o,     o,        Y,       o,      o,          o,         o,         o,      o,      o],
  GenesisRefused:  [Y,    Y,     Y,        Y,       Y,      o,          o,         o,         o,      o,      o],
  ReadyProbe:      [o,    Y,     Y,        Y,       Y,      Y,          Y,         Y,         Y,      Y,      Y],
  Ready:           [o,    o,     o,        o,       o,      Y,          Y,         Y,         Y,      Y,      Y],
  Forward:         [o,    o,     o,        o,       N,      N,          Y,         Y,         Y,      Y,      Y],
  Forwarded:       [o,    o,     o,        o,       o,      Y,          Y,         Y,         Y,      Y,      Y],
  Outcome:         [o,    o,     o,        o,       o,      Y,          Y,         Y,         Y,      Y,      Y],
  // Rows on the disk of a recovering peer may be about to go.
  StoredQuery:     [o,    o,     o,        o,       o,      o,          o,         o,         Y,      Y,      Y],
  StoredAnswer:    [o,    o,     o,        o,       o,      Y,          Y,         Y,         Y,      Y,      Y],
  // A recovering peer votes for nothing, and open proposals end the sooner when it says so.
  Prepare:         [o,    o,     o,        o,       o,      o,          o,         Y,         o,      Y,      o],
  Votes:           [o,    o,     o,        o,       o,      o,          Y,         Y,         Y,      Y,      o],
  // A recovering peer takes outcomes from the offer of a whole registry, never from one certificate (4i).
  Commit:          [o,    o,     o,        o,       o,      o,          o,         o,         Y,      Y,      o],
  CommitAcks:      [o,    o,     o,        o,       o,      o,          Y,         Y,         Y,      Y,      o],
  SettleQuery:     [o,    o,     o,        o,       o,      o,          Y,         Y,         Y,      Y,      o],
  SettleAnswer:    [o,    o,     o,        o,       o,      o,          Y,         Y,         Y,      Y,      o],
  AbortRequest:    [o,    o,     o,        o,       o,      o,          o,         Y,         o,      Y,      o],
  SnapshotRequest: [o,    o,     o,        o,       o,      o,          o,         Y,         o,      Y,      Y],
  SnapshotOffer:   [o,    o,     o,        o,       o,      o,          Y,         Y,         o,      o,      o],
} satisfies MessageRows;

// biome-ignore format: one column for each mode
export const timerRows = {
  //                blank sealed verifying founding damaged quarantined announcing recovering joining active promoting
  genesis:         [o,    o,     o,        Y,       o,      o,          o,         o,         o,      o,      o],
  join:            [o,    o,     o,        o,       o,      o,          Y,         o,         Y,      o,      Y],
  probe:           [o,    o,     o,        o,       o,      Y,          o,         o,         o,      Y,      Y],
  propose:         [o,    o,     o,        o,       o,      Y,          Y,         Y,         Y,      Y,      Y],
  resolve:         [o,    o,     o,        o,       o,      o,          Y,         Y,         Y,      Y,      o],
  deliver:         [o,    o,     o,        o,       o,      o,          Y,         Y,         Y,      Y,      Y],
  prune:           [o,    o,     o,        o,       o,      o,          Y,         Y,         Y,      Y,      Y],
  recover:         [o,    o,     o,        o,       o,      o,          Y,         Y,         o,      o,      o],
  forward:         [o,    o,     o,        o,       o,      o,          Y,         Y,         Y,      Y,      Y],
  answers:         [o,    o,     o,        o,       o,      Y,          Y,         Y,         Y,      Y,      Y],
} satisfies TimerRows;
export type ProtocolTimer = keyof typeof timerRows;

// biome-ignore format: one column for each mode
export const eventRows = {
  //                blank sealed verifying founding damaged quarantined announcing recovering joining active promoting
  Initialize:      [Y,    Y,     Y,        N,       N,      N,          N,         N,         N,      N,      N],
  Verifying:       [o,    Y,     Y,        o,       o,      o,          o,         o,         o,      o,      o],
  // A sealed peer is handed `Verifying` first: Mode.ts lets no other step follow.
  Unsealed:        [o,    Y,     Y,        Y,       Y,      Y,          Y,         Y,         Y,      Y,      Y],
  Sealed:          [o,    Y,     Y,        Y,       Y,      Y,          Y,         Y,         Y,      Y,      Y],
  DeclareRestore:  [N,    Y,     Y,        Y,       N,      Y,          Y,         Y,         Y,      Y,      Y],
  RotateIntegrity: [N,    N,     N,        Y,       N,      Y,          Y,         Y,         Y,      Y,      Y],
  Rekey:           [N,    N,     N,        Y,       N,      Y,          Y,         Y,         Y,      Y,      Y],
  Operated:        [N,    N,     N,        Y,       N,      Y,          Y,         Y,         Y,      Y,      Y],
  Promote:         [N,    N,     N,        N,       N,      N,          N,         N,         N,      Y,      Y],
  Command:         [N,    N,     N,        N,       N,      N,          Y,         Y,         Y,      Y,      Y],
  CheckReadiness:  [Y,    Y,     Y,        Y,       Y,      Y,          Y,         Y,         Y,      Y,      Y],
  Unread:          [o,    Y,     Y,        Y,       Y,      Y,          Y,         Y,         Y,      Y,      Y],
  IntegrityLost:   [Y,    Y,     Y,        Y,       Y,      Y,          Y,         Y,         Y,      Y,      Y],
} satisfies EventRows;

const byMode = <H extends Handling>(row: Row<H>): Readonly<Record<Mode, H>> =>
  Object.fromEntries(modes.map((mode, index) => [mode, row[index]])) as Record<Mode, H>;

const byModes = <K extends string, H extends Handling>(
  rows: { readonly [P in K]: Row<H> },
): Readonly<Record<K, Readonly<Record<Mode, H>>>> =>
  Object.fromEntries(Object.entries<Row<H>>(rows).map(([name, row]) => [name, byMode(row)])) as Record<
    K,
    Readonly<Record<Mode, H>>
  >;

export const messageHandling = byModes<ProtocolMessage["_tag"], Handling>(messageRows);
export const timerHandling = byModes<ProtocolTimer, Handling>(timerRows);
export const eventHandling = byModes<OtherEvent, Handling>(eventRows);
