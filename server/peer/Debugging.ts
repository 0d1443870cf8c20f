/** Ways into a process's memory that Node offers, all of them closed for a peer: it holds private keys. */
import inspector from "node:inspector";

/** Options of Node that open a debugger, or write the memory to a file. */
const openings = ["--inspect", "--debug", "--heapsnapshot-signal", "--heapsnapshot-near-heap-limit", "--heap-prof"];

/** Why no key may be brought into this process, by how it was started; undefined when it may. */
export const debuggingFault = (
  words: ReadonlyArray<string>,
  debuggerUrl: string | undefined = inspector.url(),
): string | undefined => {
  const option = openings.find((opening) => words.some((word) => word.replaceAll("_", "-").startsWith(opening)));
  if (option !== undefined)
    return `${option}: gives this peer's keys away; leave it out of the command and of NODE_OPTIONS`;
  return debuggerUrl === undefined
    ? undefined
    : "the debugger of Node is open, and gives this peer's keys away; start this peer without it";
};

/** The options Node was started with. */
export const nodeOptions = (): ReadonlyArray<string> => [
  ...process.execArgv,
  ...(process.env["NODE_OPTIONS"] ?? "").split(/[\s"']+/),
];
