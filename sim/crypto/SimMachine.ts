/** Machines that now and then compute something wrong, until all is healed: the signature of a key that one has whole. */
import type { Choices } from "../base/Choices.ts";
import type { Cryptography } from "./Cryptography.ts";

/** Of a thousand signatures. */
const WRONG = 60;

/** Another signature than this one, of digits too. */
const otherThan = (signature: string): string => `${signature.slice(0, -1)}${signature.endsWith("0") ? "1" : "0"}`;

/** @param goesWrong whether anything may be wrong by now */
export const onMachines = <C extends Cryptography>(right: C, choices: Choices, goesWrong: () => boolean): C => {
  const stream = choices.stream("computed signature");
  const suites = right.keyCrypto.suites.map((suite) => ({
    ...suite,
    solo: {
      ...suite.solo,
      sign: (...given: Parameters<typeof suite.solo.sign>): string => {
        const signature = suite.solo.sign(...given);
        return stream.next().chance("is wrong", WRONG) && goesWrong() ? otherThan(signature) : signature;
      },
    },
  }));
  return { ...right, keyCrypto: { ...right.keyCrypto, suites } };
};
