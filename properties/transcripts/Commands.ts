/** The language of transcripts: each command is one line. */
import { Encoding, Either } from "effect";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Offer } from "../../core/commands/enrollPasskey/Offer.ts";
import { staleRevision } from "../../core/commands/replaceMetadata/Precondition.ts";
import { modeOf } from "../../core/protocol/Mode.ts";
import type { StatementKind } from "../../core/protocol/Statement.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { type TableName, tableNames } from "../../core/Tables.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { actor } from "../cluster/Cluster.ts";
import { credential, finish, options } from "../cluster/Enrolling.ts";
import { forgedBy } from "../cluster/Forging.ts";
import { create, keeper, renew } from "../cluster/Keyed.ts";
import { copyOf, declare } from "../cluster/Restoring.ts";
import type { Path } from "./Faults.ts";
import { Stage } from "./Stage.ts";

/** A peer's verdict on the one token there is. */
const judgements: { readonly [name: string]: ActorCheck } = {
  good: actor,
  forged: { _tag: "Refused", reason: "the signature does not hold" },
  unknown: { _tag: "Unavailable" },
  keeper,
  powerless: actor._tag === "Verified" ? { ...actor, claims: { ...actor.claims, permissions: [] } } : actor,
};

const tableNamed = (name: string): TableName => {
  const table = tableNames.find((each) => each === name);
  if (table === undefined) throw new Error(`there is no table "${name}"`);
  return table;
};

type Parts = ReadonlyArray<string | undefined>;

/** One transcript under way. */
export class Play {
  #stage = new Stage(0);
  readonly #judged = new Map<PeerId, ActorCheck>();
  readonly #disks = new Map<PeerId, MemoryTables>();
  readonly #shown: Array<string> = [];

  /** Carries out the commands of a block. */
  readonly run = (commands: ReadonlyArray<string>): ReadonlyArray<string> => {
    return commands.flatMap((command) => {
      const quietly = "quietly ";
      this.#perform(command.startsWith(quietly) ? command.slice(quietly.length) : command);
      this.#stage.cluster.pass(0);
      const told = this.#stage.tell();
      return command.startsWith(quietly) ? [] : [...told, ...this.#shown.splice(0)];
    });
  };

  #perform(command: string): void {
    for (const [pattern, perform] of this.#commands) {
      const parts = pattern.exec(command);
      if (parts !== null) return perform(parts.slice(1));
    }
    throw new Error(`"${command}" is no command`);
  }

  readonly #commands: ReadonlyArray<readonly [RegExp, (parts: Parts) => void]> = [
    [/^cluster (\d+)( aloud)?$/, ([total, aloud]) => this.#found(Number(total), aloud !== undefined)],
    [
      /^register (\S+) through (\d+) as (\S+)(?: with key (\d+))?(?: and metadata (.+))?$/,
      ([id = "", through, request = "", key = "7", metadata = '{"team":"a"}']) =>
        this.#stage.cluster.register(Number(through), request, id, Number(key), JSON.parse(metadata)),
    ],
    [
      /^replace metadata of (\S+) at revision (\d+) through (\d+) as (\S+): (.+)$/,
      ([id = "", revision, through, request = "", metadata = "{}"]) => {
        const ref = this.#stage.names.idOf(id) ?? `${id}@sha256:${"00".repeat(32)}`;
        this.#stage.cluster.replace(Number(through), request, ref, `"${revision}"`, JSON.parse(metadata));
      },
    ],
    [
      /^options for (\S+) through (\d+) as (\S+)$/,
      ([id, through, request = ""]) =>
        options(this.#stage.cluster, Number(through), request, { id, metadata: { team: "a" } }),
    ],
    [
      /^finish (\S+) through (\d+) as (\S+)(?: with authenticator (\S+))?$/,
      ([session = "", through, request = "", seed]) => {
        const offer = this.#offerOf(session);
        const response = credential(offer, seed === undefined ? {} : { seed });
        finish(this.#stage.cluster, Number(through), request, offer.invitation, response);
      },
    ],
    [
      /^create key (\S+) through (\d+) as (\S+)$/,
      ([keyId = "", through, request = ""]) => create(this.#stage.cluster, Number(through), request, { keyId }),
    ],
    [
      /^(rotate|refresh) key (\S+) at generation (\d+) through (\d+) as (\S+)$/,
      ([act = "", keyId, base, through, request = ""]) =>
        renew(this.#stage.cluster, Number(through), request, act === "rotate" ? act : "refresh", Number(base), keyId),
    ],
    [/^pass (\d+) ms$/, ([millis]) => this.#stage.cluster.pass(Number(millis))],
    [
      /^tell only (.+)$/,
      ([tags = ""]) => {
        this.#stage.only = new Set(tags.split(", "));
      },
    ],
    [/^tell (.+)$/, ([tags = ""]) => tags.split(", ").forEach((tag) => this.#stage.hidden.delete(tag))],
    [/^hide (.+)$/, ([tags = ""]) => tags.split(", ").forEach((tag) => this.#stage.hidden.add(tag))],
    [/^lose (\S+)(?: from (\d+))?(?: to (\d+))?$/, (parts) => this.#stage.faults.lose(this.#path(parts))],
    [/^hold (\S+)(?: from (\d+))?(?: to (\d+))?$/, (parts) => this.#stage.faults.hold(this.#path(parts))],
    [/^mend$/, () => this.#stage.faults.mend()],
    [
      /^release$/,
      () => {
        for (const { to, from, message } of this.#stage.faults.release())
          this.#stage.cluster.deliver(to, from, message);
      },
    ],
    [/^crash (\d+)$/, ([peerId]) => this.#stage.crash(Number(peerId))],
    [
      /^crash (\d+) (before|after) flushing (\S+)$/,
      ([peerId, when, table = ""]) =>
        this.#stage.faults.crashAt({
          peerId: Number(peerId),
          when: when === "before" ? "before" : "after",
          table: tableNamed(table),
        }),
    ],
    [
      /^crash (\d+) after sending (\S+) to (\d+)$/,
      ([peerId, tag = "", to]) =>
        this.#stage.faults.crashAt({ peerId: Number(peerId), when: "sending", tag, to: Number(to) }),
    ],
    [/^start (\d+)$/, ([peerId]) => this.#stage.cluster.start(Number(peerId))],
    [/^seal (\d+)$/, ([peerId]) => this.#stage.cluster.dispatch(Number(peerId), { _tag: "Sealed" })],
    [/^unseal (\d+)$/, ([peerId]) => this.#stage.cluster.unseal(Number(peerId))],
    [
      /^token is (\S+) at (\d+)$/,
      ([name = "", peerId]) => {
        const judgement = judgements[name];
        if (judgement === undefined) throw new Error(`a token is not "${name}"`);
        this.#judged.set(Number(peerId), judgement);
      },
    ],
    [
      /^clock of (\d+) is off by (-?\d+) ms$/,
      ([peerId, offset]) => void this.#stage.cluster.clockOffsets.set(Number(peerId), Number(offset)),
    ],
    [
      /^writer says (.+?)(?: to (\d+))?$/,
      ([name = "", to]) => {
        this.#stage.faults.lie = { name, to: to === undefined ? undefined : Number(to) };
      },
    ],
    [
      /^writer is honest$/,
      () => {
        this.#stage.faults.lie = undefined;
      },
    ],
    [/^(\d+) also signs ([A-Z_]+) (p\d+)(?: \((\S+)\))? to (\d+)$/, (parts) => this.#forge(parts)],
    [
      /^(\d+) tells (\d+) a no to (\S+)$/,
      ([from, to, requestId = ""]) => {
        const rejection = staleRevision("");
        const outcome = { _tag: "Rejected", rejection: { ...rejection, ref: undefined } } as const;
        this.#stage.cluster.deliver(Number(to), Number(from), { _tag: "Outcome", requestId, outcome });
      },
    ],
    [
      /^keep the disk of (\d+)$/,
      ([peerId]) => void this.#disks.set(Number(peerId), copyOf(this.#stage.cluster.tables.get(Number(peerId)))),
    ],
    [
      /^put back the disk of (\d+)$/,
      ([peerId]) => void this.#stage.cluster.tables.set(Number(peerId), copyOf(this.#disks.get(Number(peerId)))),
    ],
    [/^declare a restore of (\d+)$/, ([peerId]) => declare(this.#stage.cluster, Number(peerId))],
    [/^show modes$/, () => this.#shown.push(...this.#perPeer((peerId) => this.#modeOf(peerId)))],
    [/^show locks$/, () => this.#shown.push(...this.#perPeer((peerId) => this.#locksOf(peerId)))],
    [/^show (\S+)$/, ([table = ""]) => this.#shown.push(...this.#perPeer((peerId) => this.#rowsOf(peerId, table)))],
  ];

  #found(total: number, aloud: boolean): void {
    this.#judged.clear();
    this.#disks.clear();
    this.#stage = new Stage(total);
    this.#stage.cluster.judge = (peerId) => this.#judged.get(peerId) ?? actor;
    this.#stage.cluster.pass(2_000);
    if (!aloud) this.#stage.tell();
  }

  #path([tag = "", from, to]: Parts): Path {
    const peer = (text: string | undefined): PeerId | undefined => (text === undefined ? undefined : Number(text));
    return { tag, from: peer(from), to: peer(to) };
  }

  #offerOf(session: string): Offer {
    const id = this.#stage.names.idOf(session) ?? "";
    for (const answer of this.#stage.cluster.answers.values()) {
      if (answer._tag !== "Offered") continue;
      const { registrationId } = answer.offer;
      const hex = Buffer.from(Either.getOrThrow(Encoding.decodeBase64Url(registrationId))).toString("hex");
      if (hex === id) return answer.offer;
    }
    throw new Error(`${session} was not offered to anybody`);
  }

  #forge([by, kind = "", name = "", detail = "", to]: Parts): void {
    const { cluster, names } = this.#stage;
    const like = this.#stage.statement(names.idOf(name) ?? "", Number(by));
    const statement = forgedBy(cluster, Number(by), like, { kind: kind as StatementKind, detail });
    cluster.deliver(Number(to), Number(by), { _tag: "Votes", statements: [statement] });
  }

  #perPeer(tell: (peerId: PeerId) => string): ReadonlyArray<string> {
    return [...this.#stage.cluster.tables.keys()].map((peerId) => `${peerId}: ${tell(peerId)}`);
  }

  #modeOf(peerId: PeerId): string {
    const state = this.#stage.cluster.peers.get(peerId)?.state;
    return state === undefined ? "down" : modeOf(state);
  }

  #locksOf(peerId: PeerId): string {
    const locks = [...(this.#stage.cluster.peers.get(peerId)?.state.undecided.locks ?? [])];
    const held = locks.map(([lock, id]) => `${lock.split(/[^a-z]/)[0]} for ${this.#stage.names.of("p", id)}`);
    return held.length === 0 ? "none" : held.join(", ");
  }

  #rowsOf(peerId: PeerId, table: string): string {
    const rows = this.#stage.cluster.tables.get(peerId)?.get(tableNamed(table)) ?? new Map();
    const byKey = [...rows].toSorted(([left], [right]) => (left < right ? -1 : 1));
    const told = byKey.map(([key, { row }]) => this.#stage.rows.row(tableNamed(table), key, row));
    return told.length === 0 ? "none" : told.join("; ");
  }
}
