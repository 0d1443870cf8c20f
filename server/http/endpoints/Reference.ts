/** The description of the API as one page to be read: no script, no other file, nothing asked of any host. */
import { createHash } from "node:crypto";
import type { Json } from "./OpenApi.ts";

const style = `
:root { color-scheme: light dark; --soft: color-mix(in srgb, currentColor 12%, transparent); }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--soft); }
h3 { margin-top: 2.5rem; overflow-wrap: anywhere; }
code, pre { font: 0.875em/1.5 ui-monospace, monospace; }
pre { overflow-x: auto; padding: 0.75rem; background: var(--soft); border-radius: 0.25rem; }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; text-align: left; vertical-align: top; border-top: 1px solid var(--soft); }
td:first-child { overflow-wrap: anywhere; }
summary { cursor: pointer; }
.method { font-weight: bold; }
`;

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The headers of the page, beside those of every answer. */
export const referenceHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": policy,
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** The little of Markdown that our descriptions use: code, strong words, points and paragraphs. */
const prose = (markdown: string): string =>
  markdown
    .split("\n\n")
    .map((part) => {
      const inline = (text: string): string =>
        escaped(text)
          .replaceAll(/`([^`]+)`/g, "<code>$1</code>")
          .replaceAll(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>");
      const lines = part.split("\n");
      return lines.every((line) => line.startsWith("- "))
        ? `<ul>${lines.map((line) => `<li>${inline(line.slice(2))}</li>`).join("")}</ul>`
        : `<p>${inline(part)}</p>`;
    })
    .join("");

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);
const member = (value: unknown, name: string): Json => {
  const found = isJson(value) ? value[name] : undefined;
  return isJson(found) ? found : {};
};
const listAt = (value: Json, name: string): ReadonlyArray<unknown> => {
  const found = value[name];
  return Array.isArray(found) ? found : [];
};
const textAt = (value: Json, name: string): string => {
  const found = value[name];
  return typeof found === "string" ? found : "";
};

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);

const codeOf = (value: unknown): string => `<code>${escaped(JSON.stringify(value))}</code>`;

const bounds = [
  "const",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "maxProperties",
  "default",
];

/** What a schema says on one line; objects inside it follow as rows of their own. */
const kindOf = (schema: Json): string => {
  const reference = textAt(schema, "$ref");
  if (reference !== "") return `<a href="#schema-${nameOf(reference)}">${nameOf(reference)}</a>`;
  const choices = [...listAt(schema, "oneOf"), ...listAt(schema, "anyOf"), ...listAt(schema, "allOf")].filter(isJson);
  if (choices.length > 0) return choices.map(kindOf).join(" or ");
  const type = schema["type"];
  const names = Array.isArray(type) ? type.map(String).join(" or ") : String(type ?? "any value");
  const words = listAt(schema, "enum").map(codeOf);
  const limits = bounds.flatMap((name) => {
    const value = schema[name];
    return value === undefined || Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER
      ? []
      : [`${name} ${codeOf(value)}`];
  });
  const of = type === "array" ? ` of ${kindOf(member(schema, "items"))}` : "";
  const more = isJson(schema["additionalProperties"]) ? ` of ${kindOf(member(schema, "additionalProperties"))}` : "";
  return [`${names}${of}${more}`, ...(words.length > 0 ? [words.join(" | ")] : []), ...limits].join(", ");
};

/** The fields of a schema, those of nested objects under dotted names. */
const rowsOf = (schema: Json, prefix = ""): ReadonlyArray<string> => {
  const required = listAt(schema, "required");
  const own = Object.entries(member(schema, "properties")).flatMap(([name, field]) => {
    if (!isJson(field)) return [];
    const path = `${prefix}${name}`;
    const needed = required.includes(name) ? "" : " <small>optional</small>";
    const row = `<tr><td><code>${escaped(path)}</code>${needed}</td><td>${kindOf(field)}</td><td>${prose(textAt(field, "description"))}</td></tr>`;
    return [row, ...rowsOf(field, `${path}.`), ...rowsOf(member(field, "items"), `${path}[].`)];
  });
  const choices = [...listAt(schema, "oneOf"), ...listAt(schema, "anyOf")].filter(isJson);
  return [...own, ...choices.flatMap((each) => rowsOf(each, prefix))];
};

const tableOf = (rows: ReadonlyArray<string>): string =>
  rows.length === 0
    ? ""
    : `<table><thead><tr><th>Field<th>Value<th>About</thead><tbody>${rows.join("")}</tbody></table>`;

const exampleOf = (value: unknown): string =>
  value === undefined ? "" : `<pre>${escaped(JSON.stringify(value, undefined, 2))}</pre>`;

/** A body or an answer: its schema and its example. */
const contentOf = (holder: Json): string =>
  Object.entries(member(holder, "content"))
    .map(([type, content]) => {
      const schema = member(content, "schema");
      const example = isJson(content) ? content["example"] : undefined;
      return `<p><code>${escaped(type)}</code>: ${kindOf(schema)}</p>${tableOf(rowsOf(schema))}${exampleOf(example)}`;
    })
    .join("");

class Page {
  readonly #document: Json;

  constructor(document: Json) {
    this.#document = document;
  }

  /** What a reference within the document leads to. */
  #followed(value: unknown): Json {
    if (!isJson(value)) return {};
    const reference = textAt(value, "$ref");
    return reference === "" ? value : reference.slice(2).split("/").reduce(member, this.#document);
  }

  get html(): string {
    const info = member(this.#document, "info");
    const operations = Object.entries(member(this.#document, "paths")).flatMap(([path, methods]) =>
      Object.entries(isJson(methods) ? methods : {}).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation: this.#followed(operation),
      })),
    );
    const sections = listAt(this.#document, "tags")
      .filter(isJson)
      .map((tag) => {
        const name = textAt(tag, "name");
        const own = operations.filter(({ operation }) => listAt(operation, "tags").includes(name));
        return {
          index: `<li>${escaped(name)}<ul>${own
            .map(
              ({ path, method, operation }) =>
                `<li><a href="#${textAt(operation, "operationId")}"><code>${method} ${escaped(path)}</code></a> ${escaped(textAt(operation, "summary"))}</li>`,
            )
            .join("")}</ul></li>`,
          body: `<h2>${escaped(name)}</h2>${prose(textAt(tag, "description"))}${own
            .map(({ path, method, operation }) => this.#operation(path, method, operation))
            .join("")}`,
        };
      });
    const title = `${escaped(textAt(info, "title"))} ${escaped(textAt(info, "version"))}`;
    return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}: API</title><style>${style}</style></head>
<body><h1>${title}: API</h1>${prose(textAt(info, "description"))}
<p>For programs: <a href="/openapi.json">/openapi.json</a>.</p>
<nav><ul>${sections.map(({ index }) => index).join("")}<li><a href="#schemas">Schemas</a></li></ul></nav>
${sections.map(({ body }) => body).join("\n")}
<h2 id="schemas">Schemas</h2>
${this.#schemas()}
</body></html>
`;
  }

  #operation(path: string, method: string, operation: Json): string {
    const parameters = listAt(operation, "parameters")
      .map((each) => this.#followed(each))
      .map((each) => {
        const needed = each["required"] === true ? "" : " <small>optional</small>";
        return `<tr><td><code>${escaped(textAt(each, "name"))}</code> in ${textAt(each, "in")}${needed}</td><td>${kindOf(member(each, "schema"))}</td><td>${prose(textAt(each, "description"))}</td></tr>`;
      });
    const responses = Object.entries(member(operation, "responses")).map(([status, response]) => {
      const found = this.#followed(response);
      const names = Object.keys(member(found, "headers")).map((name) => `<code>${escaped(name)}</code>`);
      return `<details><summary><strong>${status}</strong></summary>${prose(textAt(found, "description"))}<p>Headers: ${names.join(", ")}</p>${contentOf(found)}</details>`;
    });
    const samples = listAt(operation, "x-codeSamples").filter(isJson);
    const security = listAt(operation, "security");
    const token = security.length === 0 ? "<p>No token.</p>" : "";
    const body = member(operation, "requestBody");
    return `<section id="${textAt(operation, "operationId")}"><h3><span class="method">${method}</span> <code>${escaped(path)}</code></h3>
<p><strong>${escaped(textAt(operation, "summary"))}</strong></p>${prose(textAt(operation, "description"))}${token}
${tableOf(parameters)}${Object.keys(body).length === 0 ? "" : `<h4>Body</h4>${contentOf(body)}`}
<h4>Answers</h4>${responses.join("")}
<h4>Example</h4>${samples.map((each) => `<pre>${escaped(textAt(each, "source"))}</pre>`).join("")}</section>`;
  }

  #schemas(): string {
    return Object.entries(member(member(this.#document, "components"), "schemas"))
      .map(([name, schema]) => {
        const found = isJson(schema) ? schema : {};
        const about = prose(textAt(found, "description"));
        return `<section id="schema-${name}"><h3>${name}</h3>${about}<p>${kindOf(found)}</p>${tableOf(rowsOf(found))}</section>`;
      })
      .join("\n");
  }
}

/**
 * The page.
 *
 * @param document as `openApi` makes it
 */
export const referencePage = (document: Json): string => new Page(document).html;
