/** Names of requests, of callers and of operators: no two have the same number. */
export class RequestIds {
  #count = 0;

  /** The next number after a prefix that says who asks, as `r17` or `rotate-2-18`. */
  next(prefix: string): string {
    return `${prefix}${++this.#count}`;
  }
}
