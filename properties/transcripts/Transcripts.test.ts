/**
 * Every transcript is what happens. `npm run transcripts -- -u` rewrites the results of the commands; what is rewritten
 * is read as prose before it is committed.
 */
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Play } from "./Commands.ts";
import { performed } from "./Script.ts";

const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".txt"));

it.each(files)("%s", async (name) => {
  const file = `${import.meta.dirname}/${name}`;
  const text = readFileSync(file, "utf8");
  await expect(performed(text, new Play().run)).toMatchFileSnapshot(file);
});
