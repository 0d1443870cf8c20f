/** Header fields as they were sent. */

/**
 * The values of all fields of one name; the merged forms of Node hide repetition.
 *
 * @param rawHeaders names and values in turn, as `IncomingMessage.rawHeaders` has them
 * @param name in lower case
 */
export const valuesNamed = (rawHeaders: ReadonlyArray<string>, name: string): ReadonlyArray<string> => {
  const values: Array<string> = [];
  for (let index = 1; index < rawHeaders.length; index += 2) {
    const [sent, value] = [rawHeaders[index - 1] ?? "", rawHeaders[index] ?? ""];
    if (sent.length === name.length && sent.toLowerCase() === name) values.push(value);
  }
  return values;
};
