/**
 * The page's modules as one script. They import each other by name and export
 * constants only, so a function around each is all it takes; a page opened from
 * disk may not load modules from files.
 */

const importPattern = /^import \{([^}]*)\} from "\.\/(\w+)\.js";\n/gm;
const exportPattern = /^export const (\w+)/gm;

/**
 * @param entry the module that runs last
 * @param read the text of a module by its name
 * @returns a script that needs nothing else
 */
export const bundle = (entry: string, read: (name: string) => string): string => {
  const done = new Set<string>();
  const parts: Array<string> = [];
  const add = (name: string): void => {
    if (done.has(name)) return;
    done.add(name);
    const text = read(name);
    for (const [, , from = ""] of text.matchAll(importPattern)) add(from);
    const names = [...text.matchAll(exportPattern)].map(([, exported]) => exported);
    const body = text
      .replace(importPattern, (_, imported: string, from: string) => `const {${imported}} = $${from};\n`)
      .replace(exportPattern, "const $1");
    parts.push(`const $${name} = (() => {\n${body}\nreturn { ${names.join(", ")} };\n})();\n`);
  };
  add(entry);
  return `"use strict";\n(() => {\n${parts.join("\n")}})();\n`;
};
