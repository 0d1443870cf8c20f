/** The copy of a state that one step edits: fields that it does not touch it shares with the state before. */
import { copyOfMap, copyOfSet } from "../base/Copies.ts";
import type { TimerName } from "./Event.ts";
import type { Slice } from "./Module.ts";
import type { PeerState, Slices, StateDraft } from "./PeerState.ts";
import type { TurnedAway } from "./Requests.ts";
import type { PeerId } from "./Topology.ts";

/** The fields of a slice that are maps or sets. */
type Collection<S> = {
  [K in keyof S]: S[K] extends ReadonlyMap<infer _K, infer _V> | ReadonlySet<infer _E> ? K : never;
}[keyof S];
type Editable<T> =
  T extends ReadonlyMap<infer K, infer V> ? Map<K, V> : T extends ReadonlySet<infer E> ? Set<E> : never;
type Draft<S> = { -readonly [K in keyof S]: S[K] };

/** One for each slice, because a copy of objects of many shapes at one place in the code costs V8 three times as much. */
const copies: { readonly [N in keyof Slices]: (slice: Slices[N]) => Draft<Slices[N]> } = {
  cluster: (slice) => ({ ...slice }),
  fitness: (slice) => ({ ...slice }),
  rejoining: (slice) => ({ ...slice }),
  signed: (slice) => ({ ...slice }),
  registry: (slice) => ({ ...slice }),
  undecided: (slice) => ({ ...slice }),
  probing: (slice) => ({ ...slice }),
  requests: (slice) => ({ ...slice }),
};

const copyOf = (current: unknown): unknown =>
  current instanceof Map ? copyOfMap(current) : copyOfSet(current as ReadonlySet<unknown>);

export class EditedState {
  readonly state: StateDraft;
  /** The state before this step; it never changes. */
  protected readonly before: PeerState;

  constructor(state: PeerState) {
    this.before = state;
    this.state = {
      cluster: state.cluster,
      fitness: state.fitness,
      rejoining: state.rejoining,
      signed: state.signed,
      registry: state.registry,
      undecided: state.undecided,
      probing: state.probing,
      requests: state.requests,
      modules: state.modules,
      timers: state.timers,
    };
  }

  /** A slice of the state, copied before its first change in this step. */
  draft<N extends keyof Slices>(name: N): Draft<Slices[N]> {
    const current = this.state[name];
    if (current !== this.before[name]) return current;
    const copy = copies[name](current);
    this.state[name] = copy as StateDraft[N];
    return copy;
  }

  /** A map or set in a slice of the state, copied before its first change in this step. */
  edit<N extends keyof Slices, K extends Collection<Slices[N]>>(name: N, field: K): Editable<Slices[N][K]> {
    const slice = this.draft(name);
    if (slice[field] === this.before[name][field]) slice[field] = copyOf(slice[field]) as Slices[N][K];
    return slice[field] as unknown as Editable<Slices[N][K]>;
  }

  /** The armed timers, copied before their first change in this step. */
  get timers(): Map<TimerName, number> {
    if (this.state.timers === this.before.timers) this.state.timers = copyOfMap(this.state.timers);
    return this.state.timers as Map<TimerName, number>;
  }

  /** The state of a module. */
  slice<S extends object>({ name, empty }: Slice<S>): S {
    // The state at boot is filled with what the slice itself made.
    return (this.state.modules[name] as S | undefined) ?? empty;
  }

  /** A map or set of a module's state, copied before its first change in this step. */
  editIn<S extends object, K extends keyof S & string>(slice: Slice<S>, field: K): Editable<S[K]> {
    const current = this.slice(slice);
    const before = (this.before.modules[slice.name] as S | undefined) ?? slice.empty;
    if (current[field] !== before[field]) return current[field] as unknown as Editable<S[K]>;
    const copy = copyOf(current[field]);
    this.state.modules = { ...this.state.modules, [slice.name]: { ...current, [field]: copy } };
    return copy as unknown as Editable<S[K]>;
  }

  /** The remembered refusals for one entry peer, copied before the first change in this step. */
  editTurnedAway(entryPeer: PeerId): Map<string, TurnedAway> {
    const all = this.edit("requests", "turnedAway");
    const current = all.get(entryPeer);
    if (current !== undefined && current !== this.before.requests.turnedAway.get(entryPeer))
      return current as Map<string, TurnedAway>;
    const copy = copyOfMap(current ?? new Map<string, TurnedAway>());
    all.set(entryPeer, copy);
    return copy;
  }
}
