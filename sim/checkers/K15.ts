/** K15: a key of the service's own is never an approver's, whichever was there first. */
import { Encoding } from "effect";
import { Violation } from "../base/Violation.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";

/** The public key in a descriptor, in hexadecimal. */
const keyIn = (descriptor: string): string | undefined => {
  const { publicKey64 }: { readonly publicKey64?: string } = JSON.parse(descriptor);
  const bytes = publicKey64 === undefined ? undefined : Encoding.decodeBase64(publicKey64);
  return bytes?._tag === "Right" ? Encoding.encodeHex(bytes.right) : undefined;
};

export const K15 = (ghost: Ghost): Checker => {
  const approvers = new Map<string, string>();
  const custody = new Map<string, string>();
  /** By descriptor: every member writes each. */
  const keys = new Map<string, string | undefined>();
  const assertApart = (slot: number, key: string): void => {
    const [approver, keyId] = [approvers.get(key), custody.get(key)];
    if (approver !== undefined && keyId !== undefined)
      throw new Violation(
        "K15",
        `${key} is the public key of ${keyId}`,
        `it is that of approver ${approver} at peer ${slot}`,
      );
  };
  return {
    id: "K15",
    written: {
      restore: () => {
        // What only old incarnations had may be somebody else's.
        if (ghost.unitedBy === undefined) return;
        approvers.clear();
        custody.clear();
      },
      approvers: ({ slot }, write) => {
        if (write.op !== "insert" || ghost.isLying(slot)) return;
        const { descriptor } = write.row;
        if (!keys.has(descriptor)) keys.set(descriptor, keyIn(descriptor));
        const key = keys.get(descriptor);
        if (key === undefined) return;
        approvers.set(key, write.key);
        assertApart(slot, key);
      },
      generations: ({ slot }, write) => {
        if (write.op !== "insert" || ghost.isLying(slot)) return;
        // An x coordinate is half of a point: approvers have the whole, and no such key in the toy group.
        custody.set(write.row.publicKey, write.row.keyId);
        assertApart(slot, write.row.publicKey);
      },
    },
  };
};
