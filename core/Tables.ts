/** Everything a peer stores: the tables of agreement, and those of every module. */
import type { Codec } from "./codec/Codec.ts";
import { commands, type ModuleTables } from "./commands/Commands.ts";
import type { protocolTables, RowsOf, View, WriteOf, WriteTo as WriteToOf } from "./protocol/Tables.ts";

export type Rows = RowsOf<typeof protocolTables & ModuleTables>;
export type TableName = keyof Rows;
export type RowView = View<Rows>;
export type WriteTo<T extends TableName> = WriteToOf<Rows, T>;
export type Write = WriteOf<Rows>;

/** The same as values; a store may be given those of another composition. */
export const { tables } = commands;

export const tableNames = tables.names as ReadonlyArray<TableName>;

export const rowCodec = <T extends TableName>(table: T): Codec<Rows[T]> => tables.codecOf(table) as Codec<Rows[T]>;
