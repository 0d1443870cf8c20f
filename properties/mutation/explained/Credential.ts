/** Of `core/credential`. */
import type { ExplainedFiles } from "./Reasons.ts";

export const credential: ExplainedFiles = {
  "core/credential/ApproverRef.ts": {
    "The expression is shown 64 characters, all of which have to be digits then.": [
      ["/^[0-9a-f]{64}$/", "/[0-9a-f]{64}$/"],
      ["/^[0-9a-f]{64}$/", "/^[0-9a-f]{64}/"],
    ],
  },
  "core/credential/RequestBody.ts": {
    "Only a number is a safe integer; the condition tells the type checker.": [['typeof value === "number"', "true"]],
  },
  "core/credential/SignatureCredential.ts": {
    "The text was held against the one encoding of the same bytes.": [["keyBytes === encoded.right", "false"]],
  },
  "core/credential/Weierstrass.ts": {
    "Such a y is 0 modulo p; a point with that is of order two, and the curves have prime order.": [
      ["y < p", "y <= p"],
    ],
    "Read byte by byte to the end, the number is the same.": [["(end - at) % WORD_BYTES", "(end - at) * WORD_BYTES"]],
  },
};
