/**
 * While a seed runs, the machine's clock, its entropy and later turns of its event loop are out of reach: code that
 * asks for one gets an error thrown at once, whichever library it is in. Types, the linter and the import boundaries
 * keep our own code from asking; this catches what they do not see.
 */

/** Something inside a run asked the machine for what would make the run another one next time. */
export class Escape extends Error {
  override readonly name = "Escape";

  constructor(what: string) {
    super(`${what} was used inside a run: time, entropy and turns come from the seed`);
  }
}

/** How many runs are under way, one inside the other, and whether the one call that may reach the machine is. */
let depth = 0;
let isOpen = false;

/** Replaces a function of the machine. */
const guard = (what: string, original: unknown) =>
  function (this: unknown, ...given: ReadonlyArray<unknown>): unknown {
    if (!isOpen || typeof original !== "function") throw new Escape(what);
    return Reflect.apply(original, this, given);
  };

/** What may not be called, by the object that holds it; a host without that object needs no guard. */
const forbidden: ReadonlyArray<readonly [holder: string, names: ReadonlyArray<string>]> = [
  ["globalThis", ["setTimeout", "setInterval", "setImmediate", "queueMicrotask", "fetch"]],
  ["Math", ["random"]],
  ["Date", ["now"]],
  ["performance", ["now"]],
  ["crypto", ["getRandomValues", "randomUUID"]],
  ["process", ["hrtime", "uptime", "cpuUsage", "memoryUsage"]],
];

const host: Readonly<Record<string, unknown>> = globalThis;

/** Replaces a value; gives back what undoes that. */
const replaced = (holder: object, name: string, value: unknown): (() => void) => {
  const before = Object.getOwnPropertyDescriptor(holder, name);
  Object.defineProperty(holder, name, { value, configurable: true, writable: true, enumerable: false });
  return () => {
    if (before === undefined) Reflect.deleteProperty(holder, name);
    else Object.defineProperty(holder, name, before);
  };
};

const closeAll = (): ReadonlyArray<() => void> => {
  const undo: Array<() => void> = [];
  for (const [holderName, names] of forbidden) {
    const holder = holderName === "globalThis" ? globalThis : host[holderName];
    if ((typeof holder !== "object" && typeof holder !== "function") || holder === null) continue;
    const prefix = holderName === "globalThis" ? "" : `${holderName}.`;
    for (const name of names) {
      const original: unknown = Reflect.get(holder, name);
      if (original !== undefined) undo.push(replaced(holder, name, guard(`${prefix}${name}`, original)));
    }
  }
  // A date of a given moment is no clock; a date of now is.
  const dates = new Proxy(host["Date"] as DateConstructor, {
    apply: () => {
      throw new Escape("Date");
    },
    construct: (target, given, newTarget) => {
      if (given.length === 0) throw new Escape("new Date");
      return Reflect.construct(target, given, newTarget) as object;
    },
  });
  undo.push(replaced(globalThis, "Date", dates));
  return undo;
};

/** Runs something with the machine out of reach. Throws {@link Escape} from where the machine was asked. */
export const isolated = <A>(run: () => A): A => {
  const undo = depth === 0 ? closeAll() : [];
  depth += 1;
  try {
    return run();
  } finally {
    depth -= 1;
    for (const each of undo.toReversed()) each();
  }
};

/**
 * Lets one call inside a run reach the machine. For a library whose result does not depend on what it gets there:
 * noble blinds secret scalars with random bytes before it multiplies, and what comes out is the same.
 */
export const unisolated = <A>(call: () => A): A => {
  const before = isOpen;
  isOpen = true;
  try {
    return call();
  } finally {
    isOpen = before;
  }
};
