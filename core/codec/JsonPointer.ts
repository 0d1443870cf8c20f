/**
 * The longest pointer a fault carries, in UTF-16 code units. Keys come from the
 * caller, so an unbounded pointer would let a request choose the size of its answer.
 */
export const longestPointer = 1024;

/**
 * The RFC 6901 pointer of one member of a container: `~` becomes `~0` and `/`
 * becomes `~1` (section 3).
 *
 * @param parent the pointer of the object or array; "" is the whole document
 * @param token a key of the object, unescaped, or an index of the array
 * @returns the member's pointer, or `parent` itself where that would be longer than {@link longestPointer}
 */
export const memberPointer = (parent: string, token: string | number): string => {
  const text = String(token);
  if (parent.length + text.length >= longestPointer) return parent;
  const isPlain = !text.includes("~") && !text.includes("/");
  const pointer = `${parent}/${isPlain ? text : text.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  return pointer.length > longestPointer ? parent : pointer;
};
