/**
 * Keeps every connection and every statement until the process ends. Built against Node 24.19 or later, version 12 of
 * better-sqlite3 aborts the process when one of them is collected as garbage outside of JavaScript; version 13 does
 * not, and does not run on Node 20. Connections are few, and prepare each text once.
 */
import Database, { type Statement } from "better-sqlite3";

const kept = new Set<object>();
const { prepare } = Database.prototype;

Database.prototype.prepare = function (this: Database, sql: string): Statement {
  const statement = prepare.call(this, sql);
  kept.add(this).add(statement);
  return statement;
};
