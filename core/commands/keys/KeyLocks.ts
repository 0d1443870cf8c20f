/** The lock under which the generations of a key change one after the other (protocol.md 3.2). */
export const generationLock = (keyId: string): string => `gen:${keyId}`;
