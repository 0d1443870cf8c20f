/**
 * Where a mutant is an expression that only computes, it is enough to know whether it ever had another value than the
 * code as it stands: where it had none in a seed, the seed is the same run with it. So the places that Stryker makes,
 *
 *     isActive(5) ? mutated : (reach(5), original)
 *
 * are rewritten to ones that compare both, and call `reach` only where they differ.
 */
import ts from "typescript";

/** What `Switch.ts` offers, by the names that it has in the sources. */
export interface SwitchNames {
  readonly isActive: string;
  readonly reach: string;
  readonly isRecording: string;
  readonly compare: string;
}

const OPERATORS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
  ts.SyntaxKind.EqualsEqualsEqualsToken,
  ts.SyntaxKind.ExclamationEqualsEqualsToken,
  ts.SyntaxKind.LessThanToken,
  ts.SyntaxKind.LessThanEqualsToken,
  ts.SyntaxKind.GreaterThanToken,
  ts.SyntaxKind.GreaterThanEqualsToken,
  ts.SyntaxKind.PlusToken,
  ts.SyntaxKind.MinusToken,
  ts.SyntaxKind.AsteriskToken,
  ts.SyntaxKind.SlashToken,
  ts.SyntaxKind.PercentToken,
  ts.SyntaxKind.InKeyword,
]);

const isConstant = (node: ts.Expression): boolean =>
  ts.isLiteralExpression(node) ||
  node.kind === ts.SyntaxKind.TrueKeyword ||
  node.kind === ts.SyntaxKind.FalseKeyword ||
  (ts.isIdentifier(node) && node.text === "undefined");

/** Whether computing it does nothing else: nothing is called, made or assigned. Accessors of the product compute. */
const isPure = (node: ts.Expression): boolean => {
  if (isConstant(node) || ts.isIdentifier(node) || node.kind === ts.SyntaxKind.NullKeyword) return true;
  if (node.kind === ts.SyntaxKind.ThisKeyword) return true;
  if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isAsExpression(node))
    return isPure(node.expression);
  if (ts.isPropertyAccessExpression(node)) return isPure(node.expression);
  if (ts.isElementAccessExpression(node)) return isPure(node.expression) && isPure(node.argumentExpression);
  if (ts.isConditionalExpression(node)) return [node.condition, node.whenTrue, node.whenFalse].every(isPure);
  if (ts.isPrefixUnaryExpression(node))
    return (
      node.operator !== ts.SyntaxKind.PlusPlusToken &&
      node.operator !== ts.SyntaxKind.MinusMinusToken &&
      isPure(node.operand)
    );
  return (
    ts.isBinaryExpression(node) && OPERATORS.has(node.operatorToken.kind) && isPure(node.left) && isPure(node.right)
  );
};

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Place {
  readonly mutated: ReadonlyMap<string, ts.Expression>;
  /** `(reach(5), original)`. */
  readonly rest: ts.ParenthesizedExpression;
  readonly reach: ts.Expression;
  readonly original: ts.Expression;
}

/** The number that a condition asks for; an empty text where its mutant is not in the sample. */
const askedBy = (condition: ts.Expression, names: SwitchNames): string | undefined => {
  if (condition.kind === ts.SyntaxKind.FalseKeyword) return "";
  if (!ts.isCallExpression(condition) || !ts.isIdentifier(condition.expression)) return undefined;
  const [number] = condition.arguments;
  return condition.expression.text === names.isActive && number !== undefined ? number.getText() : undefined;
};

/** What stands in a chain of mutants of one expression. */
const placeAt = (head: ts.ConditionalExpression, names: SwitchNames): Place | undefined => {
  const mutated = new Map<string, ts.Expression>();
  let node: ts.Expression = head;
  while (ts.isConditionalExpression(node)) {
    const number = askedBy(node.condition, names);
    if (number === undefined) return undefined;
    if (number !== "") mutated.set(number, node.whenTrue);
    node = node.whenFalse;
  }
  if (mutated.size === 0 || !ts.isParenthesizedExpression(node) || !ts.isBinaryExpression(node.expression))
    return undefined;
  const { left: reach, operatorToken, right: original } = node.expression;
  if (operatorToken.kind !== ts.SyntaxKind.CommaToken) return undefined;
  return { mutated, rest: node, reach, original };
};

/** What compares the mutants of a place that only compute; `reach` stays for the others. */
const editsAt = ({ mutated, rest, reach, original }: Place, names: SwitchNames): ReadonlyArray<Edit> => {
  const isOriginalPure = isPure(original);
  const compared = [...mutated].filter(([, node]) => isConstant(node) || (isOriginalPure && isPure(node)));
  if (compared.length === 0) return [];
  const others = [...mutated.keys()].filter((number) => !compared.some(([each]) => each === number));
  const before = others.length === 0 ? "0" : `${names.reach}(${others.join(", ")})`;
  const values = compared.map(([number, node]) => `[${number}, () => ${node.getText()}]`);
  return [
    { start: reach.getStart(), end: reach.getEnd(), text: before },
    { start: original.getStart(), end: original.getStart(), text: `${names.compare}(` },
    { start: original.getEnd(), end: rest.getEnd(), text: `, ${names.isRecording} && [${values.join(", ")}]))` },
  ];
};

/** Rewrites the places of a source. */
export const comparing = (source: string, names: SwitchNames): string => {
  const file = ts.createSourceFile("mutated.ts", source, ts.ScriptTarget.Latest, true);
  const edits: Array<Edit> = [];
  const visit = (node: ts.Node): void => {
    const place = ts.isConditionalExpression(node) ? placeAt(node, names) : undefined;
    if (place === undefined) return ts.forEachChild(node, visit);
    edits.push(...editsAt(place, names));
    visit(place.original);
  };
  visit(file);
  let text = source;
  // From the end, so that earlier places stay where they are. No two begin at one place.
  for (const { start, end, text: replacement } of edits.toSorted((left, right) => right.start - left.start))
    text = text.slice(0, start) + replacement + text.slice(end);
  return text;
};
