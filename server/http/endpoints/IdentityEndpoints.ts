/** What the bearer of a token may sign with (contract 2.8, 4.3). */
import { integer } from "../../../core/codec/Shape.ts";
import { arbitraryCommandFor } from "../../../core/commands/keys/KeyBodies.ts";
import { keyIdShape } from "../../../core/commands/keys/KeyId.ts";
import { IDENTITIES_BY_DEFAULT, MOST_IDENTITIES } from "../../../runtime/IdentityCatalog.ts";
import { endpoint } from "./Endpoint.ts";
import { authorityShape, identityPageShape } from "./KeyAnswers.ts";
import { exampleKeyId } from "./KeyExamples.ts";

const read = { tag: "Identities", method: "GET", kind: "read", token: "required" } as const;

export const identityEndpoints = {
  listIdentities: endpoint({
    ...read,
    path: "/v1/custody/control/identities",
    summary: "List what this token may sign with",
    description:
      "Keys for which the token has `service.key.<keyId>.sign`, that this peer has whole and with its share. A page looks at 1,000 keys at most, so it may be short, or empty, and have a next one.",
    parameters: [
      {
        in: "query",
        name: "lastSeen",
        description: "The `nextCursor` of the page before.",
        schema: keyIdShape.schema,
      },
      {
        in: "query",
        name: "limit",
        description: "The most items of a page.",
        schema: { ...integer(1, MOST_IDENTITIES).schema, default: IDENTITIES_BY_DEFAULT },
        example: "50",
      },
    ],
    answers: {
      200: {
        description: "A page, sorted by key id.",
        shape: identityPageShape,
        example: {
          items: [{ keyId: exampleKeyId, algorithm: "ED25519", generation: 1, authorities: ["arbitrary"] }],
          nextCursor: null,
        },
      },
    },
    problems: ["INVALID_QUERY", "REQUEST_CAPACITY"],
  }),
  describeAuthority: endpoint({
    ...read,
    path: "/v1/custody/control/identities/authority",
    summary: "Describe the commands of an authority of a key",
    description: "Needs `service.key.<keyId>.sign`. The policy still decides whether a command is carried out.",
    parameters: [
      {
        in: "query",
        name: "keyId",
        description: "The key.",
        isRequired: true,
        schema: keyIdShape.schema,
        example: exampleKeyId,
      },
      {
        in: "query",
        name: "authorityId",
        description: "The authority.",
        isRequired: true,
        schema: { type: "string" },
        example: "arbitrary",
      },
    ],
    answers: {
      200: {
        description: "The authority.",
        shape: authorityShape,
        example: {
          id: "arbitrary",
          type: "arbitrary",
          version: null,
          description: null,
          commandSchema: arbitraryCommandFor("EdDSA").schema,
        },
      },
    },
    problems: [
      "INVALID_QUERY",
      "ACCESS_DENIED",
      "KEY_NOT_FOUND",
      "KEY_DESTROYED",
      "KEY_UNSHARED",
      "SHARE_MISSING",
      "AUTHORITY_NOT_ATTACHED",
      "REQUEST_CAPACITY",
    ],
  }),
};
