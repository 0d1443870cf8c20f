/**
 * What a version of the service is put together of: commands and modules, and with them everything that is stored and
 * said. Made once, from two lists (core/commands/Commands.ts); agreement, stores and envelopes are handed it.
 */
import { type Codec, union } from "../codec/Codec.ts";
import type { Command, Commands, Contents } from "./Command.ts";
import { isOfModule, type Message, protocolMessages, tokensOf } from "./Message.ts";
import type { MessagePart, Module } from "./Module.ts";
import { protocolTables, type Tables } from "./Tables.ts";

/** Every table, and the form of its rows. */
export interface Schema {
  readonly names: ReadonlyArray<string>;
  codecOf(table: string): Codec<unknown>;
}

export interface Composition extends Commands {
  readonly tables: Schema;
  readonly messages: Codec<Message>;
  /** The bearer tokens in a message, in the order in which its handler expects what was found out about them. */
  tokensIn(message: Message): ReadonlyArray<string>;
}

/** Throws where two parts claim one name. */
const named = <A>(what: string, all: ReadonlyArray<readonly [string, A]>): ReadonlyMap<string, A> => {
  const byName = new Map(all);
  if (byName.size < all.length) throw new TypeError(`two parts have a ${what} of the same name`);
  return byName;
};

const schemaOf = (parts: ReadonlyArray<Tables>): Schema => {
  const codecs = named("table", parts.flatMap(Object.entries));
  return {
    names: [...codecs.keys()],
    codecOf: (table) => {
      const codec = codecs.get(table);
      if (codec === undefined) throw new TypeError(`there is no table ${table}`);
      // Whatever stands in a table of codecs is one; which, its module knows.
      return codec as Codec<unknown>;
    },
  };
};

/** What the registry root is over, one module after the other: a key is the module's name and the entry's own. */
const contentsOf = (modules: ReadonlyArray<Module>): Contents => {
  const parts = modules.flatMap(({ name, contents }) => (contents === undefined ? [] : [{ name, contents }]));
  return (crypto, view, after, limit) => {
    const end = after.indexOf("/");
    const begun = parts.findIndex(({ name }) => name === after.slice(0, Math.max(0, end)));
    const page = [];
    for (let at = Math.max(0, begun); at < parts.length && page.length < limit; at++) {
      const { name, contents } = parts[at] ?? {};
      const from = at === begun ? after.slice(end + 1) : "";
      for (const entry of contents?.(crypto, view, from, limit - page.length) ?? [])
        page.push({ ...entry, key: `${name}/${entry.key}` });
    }
    return page;
  };
};

export const composed = (all: ReadonlyArray<Command>, modules: ReadonlyArray<Module>): Composition => {
  const parts: ReadonlyMap<string, MessagePart> = named(
    "message",
    modules.flatMap(({ messages }) => Object.entries(messages)),
  );
  const codecs = Object.fromEntries([...parts].map(([tag, { codec }]) => [tag, codec]));
  named(
    "slice",
    modules.flatMap(({ slice }) => (slice === undefined ? [] : [[slice.name, slice] as const])),
  );
  return {
    all,
    modules,
    byKind: named(
      "command",
      all.map((command) => [command.kind, command]),
    ),
    exchanges: named(
      "exchange",
      modules.flatMap(({ exchanges }) => exchanges.map((each) => [each.kind, each] as const)),
    ),
    contents: contentsOf(modules),
    tables: schemaOf([protocolTables, ...modules.map(({ tables }) => tables)]),
    messages: union({ ...protocolMessages, ...codecs }) as unknown as Codec<Message>,
    tokensIn: (message) =>
      isOfModule(message) ? (parts.get(message._tag)?.tokensIn(message) ?? []) : tokensOf(message),
  };
};
