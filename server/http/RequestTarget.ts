/** The target of a request line. */

/** Absolute-form: a scheme this service can be reached by, an authority without credentials, and what follows it. */
const absolute = /^https?:\/\/(?:[\w.~!$&'()*+,;=%-]+|\[[\da-f:.]+\])(?::\d*)?(?=[/?]|$)/i;

/**
 * Path and query as they were sent, of a target in origin-form or in absolute-form, which every server must take
 * (RFC 9112 3.2.1, 3.2.2). Undefined for any other. The authority decides nothing here: there is one site.
 */
export const pathIn = (target: string): string | undefined => {
  if (target.startsWith("/") || target === "*") return target;
  const [head] = absolute.exec(target) ?? [];
  if (head === undefined) return undefined;
  const rest = target.slice(head.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
};

/** What follows the question mark, as it was sent; empty where nothing does. */
export const queryIn = (target: string): string => {
  const path = pathIn(target) ?? "";
  const mark = path.indexOf("?");
  return mark === -1 ? "" : path.slice(mark + 1);
};
