/** The contract's limits as callers have them are the service's: at each edge it takes what keeps the rule, and refuses what breaks it. */
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { Violation } from "../base/Violation.ts";
import { enrollmentShape } from "../../core/commands/enrollPasskey/Enrollment.ts";
import { parseApproverRef } from "../../core/credential/ApproverRef.ts";
import { parseMetadataRequest } from "../../core/credential/MetadataRequest.ts";
import { validateMetadata } from "../../core/credential/Metadata.ts";
import { parseRegisterRequest } from "../../core/credential/RegisterRequest.ts";
import { readBody } from "../../core/credential/RequestBody.ts";
import { type Rejection, rejection } from "../../core/base/Rejection.ts";
import { commands as composition } from "../../core/commands/Commands.ts";
import { entropyOf } from "../base/Prng.ts";
import { cryptographyOf } from "../crypto/Cryptography.ts";
import type { Asked } from "./Asked.ts";
import { Commands } from "./Commands.ts";
import { atEdge, edgeNames } from "./Edges.ts";
import { assertValidity, markOfEdge } from "./Validity.ts";

const commands = new Commands(cryptographyOf("fast", entropyOf(1, 0), composition));

const asks: ReadonlyArray<Asked> = [
  commands.command("alice", 1, "team-1"),
  commands.replacement(`alice@sha256:${"0".repeat(64)}`, '"1"', "team-1"),
  commands.enrollment.invite("alice", "team-1"),
];

/** The ref in the path of a replacement. */
const refIn = (path: string): string => decodeURIComponent(path.split("/").at(-2) ?? "");

const codeOf = ({ kind, call: { path, rawBody } }: Asked): string | undefined => {
  const read: Either.Either<unknown, Rejection> =
    kind === "REGISTER"
      ? parseRegisterRequest(rawBody)
      : kind === "METADATA"
        ? Either.flatMap(parseApproverRef(refIn(path)), () => parseMetadataRequest(rawBody))
        : Either.flatMap(readBody(rawBody, "", enrollmentShape), ({ metadata = new Map() }) =>
            validateMetadata(metadata),
          );
  return Either.isLeft(read) ? read.left.code : undefined;
};

/** Keys and algorithms are judged after the body. */
const names = edgeNames.filter((name) => !name.startsWith("4.1.3"));

describe("a request at the edge of a rule", () => {
  it.each(names)("%s", (name) => {
    const all = asks.flatMap((asked) => atEdge(commands, asked, name) ?? []);
    for (const each of all) expect(codeOf(each)).toBe(each.edge?.refusedAs);
    expect(all.length).toBeGreaterThan(name.startsWith("4.1 extension") ? -1 : 0);
  });

  it("is judged by that edge", () => {
    const [command] = asks;
    if (command === undefined) throw new Error("nothing is asked");
    const refused = (code: "INVALID_METADATA" | "INVALID_REQUEST_BODY" | "KEY_ALREADY_REGISTERED") =>
      ({ _tag: "Rejected", rejection: rejection(code, "No.", "") }) as const;
    const broken = atEdge(commands, command, "2.4 pairs: 33 pairs") ?? command;
    const kept = atEdge(commands, command, "2.4 pairs: 32 pairs") ?? command;
    expect(() => assertValidity("r1", broken, refused("INVALID_METADATA"))).not.toThrow();
    expect(() => assertValidity("r1", broken, refused("INVALID_REQUEST_BODY"))).toThrow(Violation);
    expect(() => assertValidity("r1", kept, refused("KEY_ALREADY_REGISTERED"))).not.toThrow();
    expect(() => assertValidity("r1", kept, refused("INVALID_METADATA"))).toThrow(Violation);
    expect(markOfEdge(broken, refused("INVALID_METADATA"))).toBe("broken 2.4 pairs");
    expect(markOfEdge(kept, refused("KEY_ALREADY_REGISTERED"))).toBeUndefined();
  });
});
