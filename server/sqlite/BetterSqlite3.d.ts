/** What is used of better-sqlite3 beside the library that opens it for writing. */
declare module "better-sqlite3" {
  export interface Statement {
    /** Whether it gives rows. */
    readonly reader: boolean;
    readonly raw: () => Statement;
    /** Rows as objects by column name; after {@link raw} as arrays. */
    readonly all: (...parameters: ReadonlyArray<string | number>) => ReadonlyArray<unknown>;
    readonly run: () => void;
  }

  export default class Database {
    constructor(file: string, options: { readonly readonly: boolean });
    prepare(sql: string): Statement;
    close(): void;
  }
}
