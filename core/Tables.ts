/** Everything a peer stores: the tables of agreement, and those of every module. */
import type { Codec } from "./codec/Codec.ts";
import { approverTables } from "./commands/approvers/Tables.ts";
import { passkeyTables } from "./commands/enrollPasskey/Tables.ts";
import { enrollmentTables } from "./commands/enrollPasskey/SessionTables.ts";
import { protocolTables, type RowsOf, type View, type WriteOf, type WriteTo as WriteToOf } from "./protocol/Tables.ts";

const codecs = { ...protocolTables, ...approverTables, ...passkeyTables, ...enrollmentTables };

export type Rows = RowsOf<typeof codecs>;
export type TableName = keyof Rows;
export type RowView = View<Rows>;
export type WriteTo<T extends TableName> = WriteToOf<Rows, T>;
export type Write = WriteOf<Rows>;

export const tableNames = Object.keys(codecs) as ReadonlyArray<TableName>;

export const rowCodec = <T extends TableName>(table: T): Codec<Rows[T]> => codecs[table] as unknown as Codec<Rows[T]>;
