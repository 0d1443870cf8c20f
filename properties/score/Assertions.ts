/**
 * Assertions of the product, `if (…) throw new InvariantViolation(…)`: a mutant of one either ends every process that
 * meets it or fires less often, and what never fires cannot be seen to fire less.
 */
import ts from "typescript";

/** What is thrown where the program itself is wrong; faults of input have names of their own. */
export const ASSERTED: ReadonlyArray<string> = ["InvariantViolation", "TypeError", "RangeError"];

const thrownBy = (statement: ts.Statement): ts.Statement | undefined =>
  ts.isBlock(statement) && statement.statements.length === 1 ? statement.statements[0] : statement;

const isAssertion = (node: ts.Node): boolean => {
  const thrown = ts.isIfStatement(node) && node.elseStatement === undefined ? thrownBy(node.thenStatement) : node;
  if (thrown === undefined || !ts.isThrowStatement(thrown) || !ts.isNewExpression(thrown.expression)) return false;
  return ASSERTED.includes(thrown.expression.expression.getText());
};

/** Whether the text from one offset to another lies in an assertion of a source. */
export const isInAssertion = (source: string): ((start: number, end: number) => boolean) => {
  const file = ts.createSourceFile("source.ts", source, ts.ScriptTarget.Latest, true);
  const spans: Array<readonly [number, number]> = [];
  const visit = (node: ts.Node): void => {
    if (isAssertion(node)) spans.push([node.getStart(), node.getEnd()]);
    else ts.forEachChild(node, visit);
  };
  visit(file);
  return (start, end) => spans.some(([from, to]) => from <= start && end <= to);
};
