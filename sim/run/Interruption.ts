/** Thrown into a run by an observer or a decider of draws, to end it: it says nothing of the run. */
export class Interruption extends Error {}
