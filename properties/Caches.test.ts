/** What the core keeps between steps beside a peer's state: only results of `memoized`, where they can be found. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const COLLECTIONS: ReadonlySet<string> = new Set(["Map", "Set", "WeakMap", "WeakSet"]);
const WRITES: ReadonlySet<string> = new Set(["set", "add"]);

const around = (node: ts.Node): ReadonlyArray<ts.Node> =>
  ts.isSourceFile(node) ? [] : [node.parent, ...around(node.parent)];

const inside = (node: ts.Node): ReadonlyArray<ts.Node> => {
  const below: Array<ts.Node> = [];
  ts.forEachChild(node, (child) => void below.push(child, ...inside(child)));
  return below;
};

/** Whether a function in which this is done escapes: it can be called when its maker has ended. */
const isDoneLater = (node: ts.Node, maker: ts.Node): boolean => {
  const outer = around(node).slice(0, around(node).indexOf(maker));
  const writer = outer.findLastIndex(ts.isFunctionLike);
  return writer >= 0 && (ts.isSourceFile(maker) || outer.slice(writer + 1).some(ts.isReturnStatement));
};

/** Whether the value of a variable is written to after it was made. */
const isWrittenLater = (variable: string, maker: ts.Node): boolean =>
  inside(maker).some(
    (node) =>
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      WRITES.has(node.expression.name.text) &&
      node.expression.expression.getText().split(".")[0] === variable &&
      isDoneLater(node, maker),
  );

const isCache = (made: ts.NewExpression): boolean => {
  const kind = made.expression.getText();
  if (!COLLECTIONS.has(kind)) return false;
  if (kind.startsWith("Weak")) return true;
  const maker = around(made).find((node) => ts.isFunctionLike(node) || ts.isSourceFile(node)) ?? made;
  const holder = around(made).find((node) => ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node));
  if (holder === undefined) return false;
  const isShared = ts.isSourceFile(maker) && holder.initializer === made;
  const isFixed = holder.type?.getText().startsWith("Readonly") === true;
  return (isShared && !isFixed) || isWrittenLater(holder.name.getText(), maker);
};

/** A variable of a module that is assigned again. */
const isChanged = (node: ts.Node): boolean =>
  ts.isVariableStatement(node) && ts.isSourceFile(node.parent) && (node.declarationList.flags & ts.NodeFlags.Let) !== 0;

const kept = (text: string): ReadonlyArray<string> => {
  const source = ts.createSourceFile("core.ts", text, ts.ScriptTarget.Latest, true);
  return inside(source)
    .filter((node) => (ts.isNewExpression(node) && isCache(node)) || isChanged(node))
    .map((node) => node.getText());
};

describe("between steps", () => {
  it("the core keeps only what `memoized` does", () => {
    const found = readdirSync("core", { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
      .map((name) => join("core", name))
      .flatMap((file) => kept(readFileSync(file, "utf8")).map((what) => `${file}: ${what}`));
    expect(found).toEqual([
      // Of one request's token.
      "core/auth/Permission.ts: new Map<string, Entry>()",
      expect.stringMatching(/^core\/base\/Memo\.ts: new WeakMap</),
      // Memory that is handed out once, and no computed results.
      "core/codec/Slab.ts: let slab = new Uint8Array(SLAB_BYTES);",
      "core/codec/Slab.ts: let used = 0;",
      // What was proven of a batch's tree grows with each statement of it, and is bounded; nothing follows from it but time.
      "core/protocol/ProvenTree.ts: new Map<number, Digest>()",
      "core/protocol/Statement.ts: new WeakMap<Crypto, Map<Digest, VerifiedBatch>>()",
    ]);
  });

  it.each([
    ["a map of a module", "const known = new Map<string, number>();"],
    ["a set of a module", "export const seen = new Set<string>();"],
    ["one in an object", "const caches = { a: new Map() }; const f = (k) => caches.a.set(k, 1);"],
    ["one that a class has", "class Reader { static readonly known = new Map<string, string>(); }"],
    ["one by object, wherever", "const make = () => { const known = new WeakMap<object, string>(); return known; };"],
    ["a last value", "let last: { key: string; value: string } | undefined;"],
    [
      "one that a function is given",
      "const make = (f) => { const known = new Map(); return (key) => known.get(key) ?? known.set(key, f(key)).get(key); };",
    ],
  ])("would be found keeping %s", (_what, text) => {
    expect(kept(text)).toHaveLength(1);
  });

  it.each([
    ["a table", "const codes: ReadonlyMap<number, number> = new Map([[1, 2]]);"],
    ["tables by name", 'const next: Record<string, ReadonlySet<string>> = { a: new Set(["b"]) };'],
    ["what is empty", "export const nothing = { offers: new Map() };"],
    [
      "what a function fills",
      "const by = (all) => { const m = new Map(); for (const e of all) m.set(e, 1); return m; };",
    ],
    [
      "what its callback fills",
      "const by = (all) => { const m = new Map(); all.forEach((e) => m.set(e, 1)); return m; };",
    ],
  ])("is not found keeping %s", (_what, text) => {
    expect(kept(text)).toEqual([]);
  });
});
