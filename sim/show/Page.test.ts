import { describe, expect, it } from "vitest";
import { readPageSource } from "../bin/PageFiles.ts";
import { TOKEN_MARK } from "../crypto/SecretMarks.ts";
import { plantedBugs } from "../bugs/PlantedBugs.ts";
import { reportOf } from "../hunting/Report.ts";
import type { RunOptions } from "../run/RunOptions.ts";
import { runSeed } from "../run/Simulation.ts";
import { bundle } from "./Bundle.ts";
import { escapeHtml, pageOf, scriptJson } from "./Page.ts";
import { pictureOf } from "./Picture.ts";
import type { PictureData } from "./PictureData.ts";
import { Pool } from "./Pool.ts";
import { Recorder } from "./Recorder.ts";

const given = { steps: undefined, crypto: undefined };

const pictureOfRun = (options: RunOptions, bug?: string): PictureData => {
  const recorder = new Recorder();
  const tampering = plantedBugs.find(({ name }) => name === bug)?.tampering();
  const report = reportOf(runSeed(options, { observer: recorder, tampering }), given);
  return pictureOf(recorder, { report, command: report.replay, notes: [], peer: undefined });
};

/** A value of the pool as it was. */
const valueOf = ({ pool, shapes }: Pick<PictureData, "pool" | "shapes">, index: number): unknown => {
  const entry = pool[index];
  if (typeof entry !== "object" || entry === null) return entry;
  const [shape = -1, ...items] = entry;
  const values = items.map((item) => valueOf({ pool, shapes }, item));
  if (shape === -1) return values;
  return Object.fromEntries((shapes[shape] ?? []).map((name, place) => [name, values[place]]));
};

const source = readPageSource();
const lossy: RunOptions = { seed: 17, schedule: "drop-dup-reorder", peers: 3, crypto: "fast", steps: 700 };
const lossyPicture = pictureOfRun(lossy);

describe("the values of a page", () => {
  it("are kept once and come out as they went in", () => {
    const pool = new Pool();
    const value = { list: [1, "a", true, null], nested: { list: [1, "a", true, null] } };
    const index = pool.add(value);
    expect(valueOf({ pool: pool.entries, shapes: pool.shapes }, index)).toEqual(value);
    const size = pool.entries.length;
    expect(pool.add(structuredClone(value))).toBe(index);
    expect(pool.entries.length).toBe(size);
  });

  it("hold maps by key, sets as lists, bytes as text or digits, and leave out what is absent", () => {
    const pool = new Pool();
    const value = {
      map: new Map([[3, "c"]]),
      set: new Set([1]),
      body: new TextEncoder().encode('{"id":1}'),
      key: Uint8Array.of(0, 255),
      no: undefined,
    };
    expect(valueOf({ pool: pool.entries, shapes: pool.shapes }, pool.add(value))).toEqual({
      map: { 3: "c" },
      set: [1],
      body: '{"id":1}',
      key: "00ff",
    });
  });

  it("hold no token, under whatever name and in whatever form", () => {
    const token = `${TOKEN_MARK}12`;
    const pool = new Pool();
    pool.add({
      token: "eyJhbGciOi",
      other: token,
      bytes: new TextEncoder().encode(token),
      vault: Uint8Array.of(7),
      map: new Map([[token, 1]]),
    });
    const text = JSON.stringify([pool.entries, pool.shapes]);
    expect(text).not.toContain(TOKEN_MARK);
    expect(text).not.toContain("eyJhbGciOi");
    expect(text).toContain("never shown");
  });
});

describe("a picture", () => {
  it("has both ends of every arrow, and no arrow twice", () => {
    const { moments, messages } = lossyPicture;
    const ends = new Set<string>();
    messages.forEach(({ row, copies, to, type, from }, number) => {
      expect(moments[row]?.sends).toContain(number);
      expect([0, from]).toContain(moments[row]?.peer);
      copies.forEach((copy, place) => {
        if (copy.row === undefined) return;
        const { peer, message, copy: came, at } = moments[copy.row] ?? {};
        expect({ peer, message, came, at }).toEqual({ peer: to, message: number, came: place, at: copy.at });
        if (copy.fate === "delivered") expect(moments[copy.row]?.label).toBe(type);
        ends.add(`${number} ${place}`);
      });
    });
    expect(moments.filter(({ message, copy }) => message !== undefined && ends.has(`${message} ${copy}`)).length).toBe(
      ends.size,
    );
    expect(moments.filter(({ kind }) => kind === "deliver" || kind === "refuse").length).toBe(ends.size);
  });

  it("tells what every message says: each names what it is about", () => {
    const picture = lossyPicture;
    const types = new Set(picture.messages.map(({ type }) => type));
    for (const type of ["Prepare", "Votes", "Commit", "CommitAcks", "Outcome"]) expect(types).toContain(type);
    for (const { type, text, about, value } of picture.messages) {
      if (type !== "Prepare") continue;
      expect(text).toMatch(/^slot \d+ \(approver-/);
      expect(about.map((number) => picture.topics[number]?.kind)).toEqual(
        expect.arrayContaining(["proposal", "request"]),
      );
      expect(JSON.stringify(valueOf(picture, value))).toContain('"token":"(a bearer token, never shown)"');
    }
  });

  it("has the state of each peer, with the locks, as it came about", () => {
    const { lanes, moments, pool, modes } = lossyPicture;
    for (const { states, modes: changes } of lanes) {
      const lines = new Map<string, number>();
      const locksAt = new Map<number, number>();
      for (const [row, parts] of states) {
        for (const [section, name, text] of parts) {
          const key = `${pool[section]} ${pool[name]}`;
          if (text === undefined) lines.delete(key);
          else lines.set(key, text);
        }
        locksAt.set(row, [...lines.keys()].filter((key) => key.startsWith("Locks ")).length);
      }
      for (const [row, , locks] of changes) if (locksAt.has(row)) expect([row, locksAt.get(row)]).toEqual([row, locks]);
      expect(changes.map(([, mode]) => modes[mode])).toContain("active");
      expect(Math.max(...changes.map(([, , locks]) => locks))).toBeGreaterThanOrEqual(3);
      expect(states.every(([row]) => row < moments.length)).toBe(true);
    }
  });

  it("ends every call once, and marks the violation with its two facts", () => {
    const { violation, calls, moments } = pictureOfRun(
      { seed: 3, schedule: "calm", peers: 3, crypto: "fast" },
      "double-vote",
    );
    expect(violation).toMatchObject({ id: "S1", row: moments.length - 1 });
    expect(violation?.facts.map((fact) => fact.replace(/[0-9a-f]{16,64}/, "…").replace(/peer \d/, "peer N"))).toEqual([
      "peer N has a durable RECEIPT of proposal …",
      "peer N has a durable REFUSAL of it too",
    ]);
    for (const { from, to } of calls) if (to !== null) expect(to).toBeGreaterThanOrEqual(from);
    expect(new Set(calls.map(({ request }) => request)).size).toBe(calls.length);
  });
});

describe("the page", () => {
  it("cannot be left by what a run holds", () => {
    const nasty = { text: "</script><script>alert(1)</script><!-- \u2028 & ' \"" };
    const json = scriptJson(nasty);
    expect(json).not.toMatch(/[<>&\u2028]/);
    expect(JSON.parse(json)).toEqual(nasty);
    expect(escapeHtml(`<a href="x">'&`)).toBe("&#60;a href=&#34;x&#34;&#62;&#39;&#38;");
    const picture = pictureOfRun({ ...lossy, steps: 60 });
    const page = pageOf({ ...picture, run: { ...picture.run, title: nasty.text } }, source);
    expect(page.match(/<script/g)).toHaveLength(2);
    expect(page.match(/<\/script/g)).toHaveLength(2);
    expect(page).not.toContain("alert(1)</");
  });

  it.each([
    ["fast", lossyPicture],
    ["real", pictureOfRun({ ...lossy, crypto: "real", peers: 2, steps: 20 })],
  ] as const)("of a run with %s crypto shows no token and asks for nothing from outside", (_, picture) => {
    const page = pageOf(picture, source);
    expect(page).not.toContain(TOKEN_MARK);
    expect(page).toContain("(a bearer token, never shown)");
    expect(page.replaceAll("http://www.w3.org/2000/svg", "")).not.toMatch(
      /https?:\/\/|\bsrc=|\bhref="[^#]|@import|url\(/,
    );
    expect(page).toContain("default-src &#39;none&#39;; script-src &#39;sha256-");
  });

  it("is one script made of modules, each once, after what it needs", () => {
    const files: Record<string, string> = {
      Main: 'import { a, b } from "./A.js";\nimport { c } from "./B.js";\nout.push(a, b, c);\n',
      A: 'import { c } from "./B.js";\nexport const a = c + 1;\nexport const b = 2;\n',
      B: "const own = 4;\nexport const c = own;\n",
    };
    const out: Array<number> = [];
    new Function(
      "out",
      bundle("Main", (name) => files[name] ?? ""),
    )(out);
    expect(out).toEqual([5, 2, 4]);
  });
});
