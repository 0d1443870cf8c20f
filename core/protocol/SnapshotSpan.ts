/**
 * Decided slots one after the other, by their digest: what a restored member has as its helper has it need not travel,
 * after a restart in the middle of a transfer least of all (protocol.md 4f).
 */
import { digest, list, oneOf, record, text, type TypeOf } from "../codec/Codec.ts";
import type { Rows } from "./Tables.ts";
import type { Step } from "./Step.ts";

const SPAN_TAG = "CUSTODY_SNAP_SPAN_V1";
/** Only hashed: how many there are is `Capacities.comparedSlots`. */
const slotsCodec = list(
  record({ key: text(64), proposalId: digest, outcome: oneOf(["APPLIED", "ABORTED"]) }),
  Number.MAX_SAFE_INTEGER,
);

export const spanCodec = record({
  /** Its last slot, as `slotKey` makes it. */
  upTo: text(64),
  /** Of its slots: their proposals, and how they ended. */
  digest,
});
export type Span = TypeOf<typeof spanCodec>;

type Slot = { readonly key: string; readonly row: Rows["slots"] };

const ended = ({ key, row: { proposalId, outcome } }: Slot) =>
  outcome === "APPLIED" || outcome === "ABORTED" ? [{ key, proposalId, outcome }] : [];

const spanOf = (step: Step, slots: ReadonlyArray<Slot>): Span | undefined => {
  const last = slots.at(-1);
  const decided = slots.flatMap(ended);
  if (last === undefined || decided.length < slots.length) return undefined;
  return { upTo: last.key, digest: step.context.crypto.digest(SPAN_TAG, slotsCodec, decided) };
};

/** This peer's slots after a key, as many as are compared at a time; undefined where there are none, or not all ended. */
export const nextSpan = (step: Step, after: string): Span | undefined =>
  spanOf(step, step.context.view.scan("slots", after, step.capacities.comparedSlots));

/** Whether the slots after a key are here as they are at whoever has this span of them. */
export const hasSpan = (step: Step, after: string, span: Span): boolean => {
  const page = step.context.view.scan("slots", after, step.capacities.comparedSlots);
  const here = spanOf(
    step,
    page.filter(({ key }) => key <= span.upTo),
  );
  return here?.upTo === span.upTo && here.digest === span.digest;
};
