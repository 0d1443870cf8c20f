/** Thrown into a run by whoever looks on or decides its draws, to end it: it says nothing of the run. */
export class Interruption extends Error {}
