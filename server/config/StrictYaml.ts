/**
 * YAML as a configuration file may use it: one document of plain mappings,
 * lists and scalars. Anchors, aliases, tags, directives and duplicate keys are
 * refused, so what a reader sees is what the peer gets.
 */
import { Either } from "effect";
import { isAlias, isNode, Lexer, LineCounter, Parser, parseDocument, visit } from "yaml";

/** Deeper than any configuration; the composer of the library recurses, so this is checked before it runs. */
const maxDepth = 32;
/** Ten times the lexemes of the annotated example; bounds the library's quadratic search for duplicate keys. */
const maxLexemes = 20_000;

const sizeFault = (text: string): string | undefined => {
  const parser = new Parser();
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    lexemes += 1;
    if (lexemes > maxLexemes) return "holds too many elements; shorten it";
    for (const _ of parser.next(lexeme)) {
      // Only the depth of the open tokens matters here, not the finished ones.
    }
    if (parser.stack.length > maxDepth) return `is nested deeper than ${maxDepth} levels; flatten it`;
  }
  return undefined;
};

const nodeFault = (node: unknown): string | undefined => {
  if (isAlias(node)) return "aliases (*name) are not allowed; write the value out";
  if (!isNode(node)) return undefined;
  if ("anchor" in node && node.anchor !== undefined) return "anchors (&name) are not allowed; remove them";
  if (node.tag !== undefined) return "tags (!name) are not allowed; write the plain value";
  return undefined;
};

/**
 * Parses one YAML 1.2 (core schema) document into plain values.
 *
 * An empty document is `null`. The Left is "what is wrong; what to do" with a
 * line number where there is one, and never quotes the text.
 */
export const parseStrictYaml = (text: string): Either.Either<unknown, string> => {
  const tooLarge = sizeFault(text);
  if (tooLarge !== undefined) return Either.left(tooLarge);
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    schema: "core",
    version: "1.2",
    strict: true,
    stringKeys: true,
    uniqueKeys: true,
    resolveKnownTags: false,
    merge: false,
    prettyErrors: false,
    logLevel: "error",
    lineCounter,
  });
  const at = (offset: number): string => `line ${lineCounter.linePos(offset).line}`;
  const [error] = document.errors;
  if (error !== undefined) return Either.left(`${at(error.pos[0])}: ${errorText(error.code)}`);
  const directives = document.directives;
  if (directives.yaml.explicit === true || Object.keys(directives.tags).length > 1) {
    return Either.left("directives (%YAML, %TAG) are not allowed; remove them");
  }
  let found: string | undefined;
  visit(document, {
    Node: (_key, node) => {
      const fault = nodeFault(node);
      if (fault === undefined) return undefined;
      found = `${at(node.range?.[0] ?? 0)}: ${fault}`;
      return visit.BREAK;
    },
  });
  if (found !== undefined) return Either.left(found);
  const value: unknown = document.toJS({ maxAliasCount: 0 });
  return Either.right(value);
};

const errorText = (code: string): string => {
  switch (code) {
    case "DUPLICATE_KEY":
      return "a key stands twice in one mapping; remove one of them";
    case "MULTIPLE_DOCS":
      return "the file holds more than one document; keep one";
    case "NON_STRING_KEY":
      return "a key is not plain text; write it as a name";
    case "TAB_AS_INDENT":
      return "a tab is used for indentation; use spaces";
    default:
      return "is not valid YAML; check indentation, colons and quotes";
  }
};
