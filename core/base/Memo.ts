/**
 * A function of an immutable object that keeps its last result for each, for as long as the object is kept. Those that
 * share the object share the result: a request is judged where it enters and again by every member.
 *
 * @param compute may depend on two more values; if either differs from the last time, it is called again. Later
 *   arguments must follow from these, and are not compared
 */
export const memoized = <K extends object, R, A = void, B = void, C = void>(
  compute: (key: K, first: A, second: B, following: C) => R,
): ((key: K, first: A, second: B, following: C) => R) => {
  const results = new WeakMap<K, { readonly first: A; readonly second: B; readonly result: R }>();
  return (key, first, second, following) => {
    const known = results.get(key);
    if (known !== undefined && known.first === first && known.second === second) return known.result;
    const result = compute(key, first, second, following);
    results.set(key, { first, second, result });
    return result;
  };
};
