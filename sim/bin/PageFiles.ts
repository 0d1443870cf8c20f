/** The files of the page, beside the program: the same in a checkout and in the built package. */
import { readFileSync } from "node:fs";
import { bundle } from "../show/Bundle.ts";
import type { PageSource } from "../show/Page.ts";

const text = (name: string): string => readFileSync(new URL(`../show/page/${name}`, import.meta.url), "utf8");

/** Throws where they are missing, which is a fault of the build (`npm run build` copies them). */
export const readPageSource = (): PageSource => ({
  script: bundle("Main", (name) => text(`${name}.js`)),
  style: text("style.css"),
});
