/** How every vote is made: it is signed, recorded in the same transaction, and then handed on. */
import type { SignedStatement } from "./Statement.ts";
import type { Draft } from "./SignedBatch.ts";
import type { Step } from "./Step.ts";

/**
 * Signs one statement for each of the items with the step's next batch, records each, and hands all on in order;
 * without items it signs nothing and calls nobody.
 */
export const signEach = <T>(
  step: Step,
  items: ReadonlyArray<T>,
  draftOf: (item: T) => Draft,
  record: (item: T, signed: SignedStatement) => void,
  run: (signed: ReadonlyArray<SignedStatement>) => void,
): void =>
  step.sign(items.map(draftOf), (signed) => {
    items.forEach((item, index) => {
      const statement = signed[index];
      if (statement !== undefined) record(item, statement);
    });
    run(signed);
  });
