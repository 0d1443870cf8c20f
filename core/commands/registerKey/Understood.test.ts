import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../../properties/cluster/Cluster.ts";
import { posted } from "../../../properties/cluster/Enrolling.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import { installedProviders } from "../../credential/SignatureProvider.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest } from "../../base/Digest.ts";
import { registerKey } from "./RegisterKey.ts";
import { REGISTER_PATH } from "./Registration.ts";

describe("a call that was understood before", () => {
  const place = openStep(founded(1), 1);
  const publicKey64 = Buffer.alloc(32, 7).toString("base64");
  const credential = { type: "SIGNATURE", algorithm: "SLHDSA_SHA2_128S", publicKey64 };
  const call = posted(REGISTER_PATH, { id: "alice", credential });
  const refBy = (means: { crypto?: Crypto; providers?: typeof installedProviders }): string | undefined => {
    const context = { ...place.context, providers: installedProviders, ...means };
    const { membership } = place;
    const meaning = registerKey.parse(
      { context, membership, isCurrent: () => true, isLocked: () => false, slice: ({ empty }) => empty },
      call,
    );
    return Either.match(meaning, { onLeft: ({ code }) => code, onRight: ({ ref }) => ref });
  };
  const OTHER = "ab".repeat(32) as Digest;
  const other: Crypto = { ...crypto, sha256OfText: () => OTHER };

  it("means the same by the same means", () => {
    expect(refBy({})).toMatch(/^alice@sha256:/);
    expect(refBy({})).toBe(refBy({}));
  });

  it("is understood anew by whoever has other algorithms, or computes digests otherwise", () => {
    expect(refBy({})).not.toContain(OTHER);
    expect(refBy({ providers: new Map() })).toBe("UNSUPPORTED_ALGORITHM");
    expect(refBy({})).not.toContain(OTHER);
    expect(refBy({ crypto: other })).toContain(OTHER);
  });
});
