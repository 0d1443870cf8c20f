import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import "./KeptStatements.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** In a function of its own, so that nothing here refers to what it made. */
const dropped = () => {
  const database = new Database(":memory:", { readonly: false });
  const statement = database.prepare("SELECT 1");
  const other = {};
  database.close();
  return [database, statement, other].map((each) => new WeakRef<object>(each));
};

it("keeps what was prepared, and its connection, from the collector", async () => {
  const [database, statement, other] = dropped();
  await new Promise((resolve) => setTimeout(resolve, 0));
  collect();
  expect(other?.deref(), "what nobody keeps is collected").toBeUndefined();
  expect(statement?.deref()).toBeDefined();
  expect(database?.deref()).toBeDefined();
});
