/** One row of every table and one message of every kind, as simulated peers write and send them; each the shortest. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { encode } from "../../core/codec/CborWriter.ts";
import type { Codec } from "../../core/codec/Codec.ts";
import { commands } from "../../core/commands/Commands.ts";
import type { Message } from "../../core/Message.ts";
import { messageCodec } from "../../core/Message.ts";
import { protocolMessages } from "../../core/protocol/Message.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { rowCodec, type Rows, type TableName, tableNames } from "../../core/Tables.ts";
import { nativeBackend } from "../../sim/bin/NativeBackend.ts";
import { runSeed } from "../../sim/run/Simulation.ts";
import type { ScheduleName } from "../../sim/schedules/Schedules.ts";
import { silent } from "../../sim/world/Silent.ts";

/** Encodings in hexadecimal, by table and by tag. */
export interface Samples {
  readonly rows: { readonly [table: string]: { readonly key: string; readonly row: string } };
  readonly messages: { readonly [tag: string]: string };
}

const schedules: ReadonlyArray<ScheduleName> = [
  "swarm",
  "rollback-declared",
  "equivocating-writer",
  "restore-after-refresh",
  "keys-and-crashes",
  "promote-under-load",
];
const MOST_SEEDS = 200;

/** The integrity layer's own rows are in every database. */
const tables: ReadonlyArray<TableName> = tableNames.filter(
  (table) => table !== "head" && table !== "seals" && table !== "ranges",
);
const tags: ReadonlyArray<string> = [
  ...Object.keys(protocolMessages),
  ...commands.modules.flatMap(({ messages }) => Object.keys(messages)),
];

const floorOf = ({ expiresAt }: Rows["consents"]) => ({
  key: SELF,
  row: bytesToHex(encode(rowCodec("consentFloor"), { expiresAt })),
});

/** Throws unless the runs have brought forth one of each. */
export const samples = (): Samples => {
  const rows = new Map<string, { readonly key: string; readonly row: string }>();
  const messages = new Map<string, string>();
  const say = (message: Message): void => {
    const bytes = bytesToHex(encode(messageCodec, message));
    if (bytes.length < (messages.get(message._tag)?.length ?? Number.POSITIVE_INFINITY))
      messages.set(message._tag, bytes);
    // Simulated peers all fit; the refusal is made of the same card.
    if (message._tag === "GenesisCard" && message.mac !== undefined)
      say({ _tag: "GenesisRefused", card: message.card, mac: message.mac, reason: "it does not fit" });
    // Targets that would not accept say so before; this refusal is of the same draft.
    if (message._tag === "Promotion.Accepted") {
      const { identityKey, transferId } = message;
      say({ _tag: "Promotion.Refused", identityKey, transferId, fault: "it does not fit" });
    }
    // Helpers mostly help; the refusal is of the same session.
    if (message._tag === "Repair.Open")
      say({ _tag: "Repair.Refused", sessionId: message.sessionId, code: "UNDECIDED" });
  };
  const lacking = (): ReadonlyArray<string> => [
    ...tables.filter((table) => !rows.has(table)),
    ...tags.filter((tag) => !messages.has(tag)),
  ];
  for (let seed = 1; seed <= MOST_SEEDS && lacking().length > 0; seed++) {
    const schedule = schedules[seed % schedules.length] ?? "swarm";
    runSeed(
      { seed, schedule, peers: 3, crypto: "codec", steps: 600 },
      {
        backend: nativeBackend,
        observer: { ...silent, sent: ({ message }) => say(message) },
        tampering: {
          written: (_world, _peer, writes) => {
            for (const write of writes) {
              if (write.op === "remove") continue;
              const { table, key } = write;
              const row = bytesToHex(encode(rowCodec(table) as Codec<unknown>, write.row));
              if (row.length < (rows.get(table)?.row.length ?? Number.POSITIVE_INFINITY)) rows.set(table, { key, row });
              // No run lasts until a consent goes; what is left of it is its deadline.
              if (write.table === "consents") rows.set("consentFloor", floorOf(write.row));
            }
            return writes;
          },
        },
      },
    );
  }
  if (lacking().length > 0) throw new Error(`no run brought forth ${lacking().join(", ")}`);
  const inOrder = <A>(found: ReadonlyMap<string, A>, names: ReadonlyArray<string>): { readonly [name: string]: A } =>
    Object.fromEntries(names.flatMap((name) => (found.has(name) ? [[name, found.get(name) as A]] : [])));
  return { rows: inOrder(rows, tables), messages: inOrder(messages, tags) };
};
