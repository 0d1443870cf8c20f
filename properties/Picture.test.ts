/** The picture of a run in a real browser: opened from disk, without a network, used as a person would. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPageSource } from "../sim/bin/PageFiles.ts";
import { plantedBugs } from "../sim/bugs/PlantedBugs.ts";
import { reportOf } from "../sim/hunting/Report.ts";
import type { RunOptions } from "../sim/run/RunOptions.ts";
import { pageOf } from "../sim/show/Page.ts";
import { pictureOf } from "../sim/show/Picture.ts";
import { Recorder } from "../sim/show/Recorder.ts";
import { runSeed } from "../sim/run/Simulation.ts";
import { absentBrowser, browserIsAbsent, startBrowser } from "./Browser.ts";

let browser: Browser | undefined;
let folder = "";

const pageFile = (name: string, options: RunOptions, bug?: string): string => {
  const recorder = new Recorder();
  const tampering = plantedBugs.find((each) => each.name === bug)?.tampering();
  const result = runSeed(options, { observer: recorder, tampering });
  const report = reportOf(result, { steps: options.steps, crypto: options.crypto });
  const file = join(folder, `${name}.html`);
  const picture = pictureOf(recorder, { report, command: report.replay, notes: [], peer: undefined });
  writeFileSync(file, pageOf(picture, readPageSource()));
  return pathToFileURL(file).href;
};

let lossy = "";
let violated = "";

beforeAll(async () => {
  if (browserIsAbsent) return;
  folder = mkdtempSync(join(tmpdir(), "custody-picture-"));
  lossy = pageFile("lossy", { seed: 8, schedule: "drop-dup-reorder", peers: 3, crypto: "fast", steps: 600 });
  violated = pageFile("violated", { seed: 3, schedule: "calm", peers: 3, crypto: "fast" }, "double-vote");
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  if (folder !== "") rmSync(folder, { recursive: true, force: true });
});

/** Opens a page and fails on any request to the outside, error, or violation of its policy. */
const open = async (url: string, options: BrowserContextOptions = {}): Promise<Page> => {
  if (browser === undefined) throw new Error("no browser was started");
  const context = await browser.newContext({ offline: true, viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => expect.unreachable(error.message));
  page.on("console", (message) => expect.unreachable(message.text()));
  page.on("request", (request) => expect(request.url().split("#")[0]).toBe(url.split("#")[0]));
  await page.goto(url);
  await page.waitForSelector("html[data-ready]");
  return page;
};

/** The row that is selected. */
const rowOf = async (page: Page): Promise<number> => {
  const hash = await page.evaluate("location.hash");
  return Number(/row=(\d+)/.exec(String(hash))?.[1]);
};

/** Types a search, and waits until it has been made. */
const search = async (page: Page, query: string): Promise<void> => {
  await page.fill("#search", query);
  await expect.poll(() => page.locator("#matches").innerText()).toMatch(/^[1-9]\d* found$/);
};

/** The text of an element, with single spaces. */
const textOf = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).first().innerText()).replace(/\s+/g, " ");

describe("the picture of a run", () => {
  it("shows lanes, arrows and crosses, and what a message holds when it is pressed", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const page = await open(lossy);
    expect(await textOf(page, "h1")).toBe("Seed 8, drop-dup-reorder, 3 peers");
    expect(await page.locator(".lane-head b").allInnerTexts()).toEqual([
      "callers",
      "peer 1",
      "peer 2",
      "peer 3",
      "world",
    ]);
    await search(page, "type:Prepare");
    // Small enough that some hundred events are on the screen, and with them whatever this schedule does.
    for (let times = 0; times < 4; times++) await page.click("#smaller");
    expect(await page.locator(".lane").count()).toBe(3);
    expect(await page.locator(".lane .mode.is-active").count()).toBeGreaterThan(0);
    expect(await page.locator(".lane .locks").count()).toBeGreaterThan(0);
    expect(await page.locator(".arrow .head").count()).toBeGreaterThan(5);
    expect(await page.locator(".arrow.is-lost .cross").count()).toBeGreaterThan(0);
    expect(await page.locator(".arrow.is-double").count()).toBeGreaterThan(0);
    await page.locator(".arrow.of-prepare .reach").first().click({ force: true });
    expect(await textOf(page, "#details h3")).toMatch(/^Prepare, 1 → [23]$/);
    const fields = page.locator("#details .fields[data-message]");
    for (const name of ["items", "stableSeq"]) expect(await fields.getByText(name, { exact: true }).count()).toBe(1);
    await fields.getByText("1", { exact: true }).first().click();
    await fields.getByText("evidence", { exact: true }).first().click();
    await expect.poll(() => fields.innerText()).toContain("(a bearer token, never shown)");
    expect(await textOf(page, "#details .state h3")).toMatch(/^Peer 1 at this moment/);
    expect(await page.locator("#details .state").innerText()).toMatch(/Locks \d/);
    await page.context().close();
  });

  it("is used by keyboard: events, the same proposal, both ends of a message, zoom, help", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const page = await open(`${lossy}#row=0`);
    const { keyboard } = page;
    await page.focus("#list");
    await keyboard.press("j");
    await keyboard.press("ArrowDown");
    expect(await rowOf(page)).toBe(2);
    await keyboard.press("k");
    expect(await rowOf(page)).toBe(1);
    // The list is drawn with the next frame.
    await expect.poll(() => page.locator("#list").getAttribute("aria-activedescendant")).toBe("row-1");
    await keyboard.press("/");
    expect(await page.locator("#search:focus").count()).toBe(1);
    await search(page, "type:Commit kind:deliver");
    await keyboard.press("Escape");
    const first = await rowOf(page);
    await keyboard.press("n");
    expect(await rowOf(page)).toBeGreaterThan(first);
    await keyboard.press("N");
    expect(await rowOf(page)).toBe(first);
    await keyboard.press("h");
    const sent = await rowOf(page);
    expect(sent).toBeLessThan(first);
    await keyboard.press("Enter");
    expect(await rowOf(page)).toBe(first);
    await keyboard.press("]");
    expect(await page.locator("#details .topic[aria-pressed=true]").innerText()).toMatch(/^slot \d+/);
    expect(await rowOf(page)).toBeGreaterThan(first);
    await keyboard.press("[");
    expect(await rowOf(page)).toBe(first);
    await keyboard.press("3");
    expect(await textOf(page, "#details .state h3")).toMatch(/^Peer 3 at this moment/);
    const height = async () => (await page.locator("#sheet").boundingBox())?.height ?? 0;
    const before = await height();
    await keyboard.press("-");
    expect(await height()).toBeLessThan(before);
    await keyboard.press("?");
    expect(await page.locator("dialog[open] kbd").count()).toBeGreaterThan(20);
    await keyboard.press("Escape");
    expect(await page.locator("dialog[open]").count()).toBe(0);
    await page.context().close();
  });

  it("hides by kind and peer, folds what is quiet, and unfolds it", async ({ skip }) => {
    skip(browserIsAbsent, absentBrowser);
    const page = await open(`${lossy}#row=0`);
    const count = async () => Number(await page.locator("#list [role=option]").first().getAttribute("aria-setsize"));
    const folded = await count();
    await page.click(".filters summary");
    await page.getByLabel("Fold quiet stretches").uncheck();
    await expect.poll(count).toBeGreaterThan(folded);
    const all = await count();
    await page.getByLabel("Timers").uncheck();
    await expect.poll(count).toBeLessThan(all);
    const fewer = await count();
    await page.getByLabel("Peer 2").uncheck();
    await expect.poll(count).toBeLessThan(fewer);
    expect(
      await page
        .locator("#list .row:not(.is-chosen)")
        .filter({ hasText: /^\S+ \S+ Peer 2/ })
        .count(),
    ).toBe(0);
    await page.context().close();
  });

  it("begins at the violation, names both facts, and leads to them; dark and on a small screen too", async ({
    skip,
  }) => {
    skip(browserIsAbsent, absentBrowser);
    const page = await open(violated, { colorScheme: "dark", viewport: { width: 800, height: 700 } });
    expect(await textOf(page, "#outcome")).toBe("S1 violated");
    expect(await page.locator("#verdict li").count()).toBe(2);
    expect(await page.locator(".violation text").textContent()).toBe("S1 is violated here");
    expect(await page.locator("#list .is-chosen.is-violation").count()).toBe(1);
    const last = await rowOf(page);
    await page.focus("#list");
    await page.keyboard.press("Home");
    expect(await rowOf(page)).toBe(0);
    await page.keyboard.press("v");
    expect(await rowOf(page)).toBe(last);
    await page.locator("#verdict .link").first().click();
    expect(await page.inputValue("#search")).toMatch(/^peer:[123]$/);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(15, 19, 24)");
    const shot = await page.screenshot();
    expect(shot.length).toBeGreaterThan(10_000);
    await page.context().close();
  });
});
