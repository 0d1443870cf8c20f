/** K16: no caller and no member makes a peer hold more sessions, requests or pending shares than it may. */
import { Violation } from "../base/Violation.ts";
import type { Checker } from "./Checker.ts";

/** By the name of a module's memory and of a part of it. */
const most: ReadonlyArray<readonly [slice: string, part: string, most: number]> = [
  ["signing", "requests", 256],
  ["signing", "sessions", 1_024],
  ["makeKey", "sessions", 4 + 64],
  ["makeKey", "pending", 64],
  ["repairs", "repairs", 1],
];
const OF_COORDINATOR = 256;

/** Key generations that are not done; of those that are, each holds a pending share. */
const OPEN_MAKINGS = 4;

type Part = ReadonlyMap<string, { readonly coordinator?: number; readonly made?: object | undefined }>;
type Slices = Readonly<Record<string, Readonly<Record<string, Part>> | undefined>>;

export const K16 = (): Checker => ({
  id: "K16",
  stepped: ({ slot, state }) => {
    const slices = state?.modules as Slices | undefined;
    for (const [slice, part, bound] of most) {
      const size = slices?.[slice]?.[part]?.size ?? 0;
      if (size > bound)
        throw new Violation("K16", `a peer holds at most ${bound} ${part} of ${slice}`, `peer ${slot} holds ${size}`);
    }
    const makings = [...(slices?.["makeKey"]?.["sessions"]?.values() ?? [])].filter(({ made }) => made === undefined);
    if (makings.length > OPEN_MAKINGS)
      throw new Violation(
        "K16",
        `a peer makes at most ${OPEN_MAKINGS} keys at once`,
        `peer ${slot} makes ${makings.length}`,
      );
    const sessions = slices?.["signing"]?.["sessions"];
    if ((sessions?.size ?? 0) <= OF_COORDINATOR) return;
    const counts = new Map<number, number>();
    for (const { coordinator = 0 } of sessions?.values() ?? []) {
      const count = (counts.get(coordinator) ?? 0) + 1;
      counts.set(coordinator, count);
      if (count > OF_COORDINATOR)
        throw new Violation(
          "K16",
          `a peer holds at most ${OF_COORDINATOR} sessions of a coordinator`,
          `peer ${slot} holds more of peer ${coordinator}`,
        );
    }
  },
});
