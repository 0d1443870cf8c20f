import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseMetadataRequest } from "../../core/credential/MetadataRequest.ts";
import { readBody, readDraft } from "../../core/credential/RequestBody.ts";
import { parseRegisterRequest } from "../../core/credential/RegisterRequest.ts";
import { parseFinishRequest } from "../../core/webauthn/FinishRequest.ts";
import { endpoints, namedEndpoints } from "../../server/http/endpoints/Endpoints.ts";
import { openApi } from "../../server/http/endpoints/OpenApi.ts";
import { readSystemBody } from "../../server/http/SystemBodies.ts";
import { makeCredential } from "../webauthn/Authenticator.ts";

type OfKeys = "createKey" | "rotateKey" | "refreshKey" | "destroyKey" | "sign" | "verify" | "repairKey";
type Judged =
  | "registerApprover"
  | "replaceMetadata"
  | "finishEnrollment"
  | "initialize"
  | "unseal"
  | "rekey"
  | "seal"
  | "promote"
  | OfKeys;
type Verdict = (body: Uint8Array) => Either.Either<unknown, { readonly code: string }>;

const { initialize, unseal, rekey, seal, promote } = endpoints;
const ofKeys =
  (name: OfKeys): Verdict =>
  (body) =>
    readBody<unknown>(body, "of keys", endpoints[name].body.shape);
/** What judges the body of an endpoint, whose form alone is in question here. */
const judges: { readonly [N in Judged]: Verdict } = {
  registerApprover: parseRegisterRequest,
  replaceMetadata: parseMetadataRequest,
  finishEnrollment: parseFinishRequest,
  initialize: (body) => readSystemBody(initialize.body, body),
  unseal: (body) => readSystemBody(unseal.body, body),
  rekey: (body) => readSystemBody(rekey.body, body),
  seal: (body) => readSystemBody(seal.body, body),
  promote: (body) => readSystemBody(promote.body, body),
  createKey: ofKeys("createKey"),
  rotateKey: ofKeys("rotateKey"),
  refreshKey: ofKeys("refreshKey"),
  destroyKey: ofKeys("destroyKey"),
  sign: ofKeys("sign"),
  verify: ofKeys("verify"),
  repairKey: ofKeys("repairKey"),
};

const ajv = new Ajv2020({ strict: false });
ajv.addSchema(openApi("0"), "api");
const schemaOf = (name: Judged | "resolvePolicy") => {
  const { path, method } = endpoints[name];
  const pointer = `${path.replaceAll("/", "~1")}/${method.toLowerCase()}/requestBody/content/application~1json/schema`;
  return ajv.compile({ $ref: `api#/paths/${pointer}` });
};

const credential = makeCredential({
  challenge: new Uint8Array(32),
  origin: "https://example.org",
  rpId: "example.org",
});
const bodies: { readonly [N in Judged]: ReadonlyArray<unknown> } = {
  registerApprover: [endpoints.registerApprover.body.example],
  replaceMetadata: [endpoints.replaceMetadata.body.example],
  finishEnrollment: [
    endpoints.finishEnrollment.body.example,
    { invitation: "A".repeat(43), credential: { ...credential, authenticatorAttachment: "platform" } },
  ],
  initialize: [
    endpoints.initialize.body.example,
    { peerId: 2, threshold: 2, total: 3, join: true },
    { peerId: 1, threshold: 1, total: 1, recipients: ["age1x"] },
  ],
  unseal: [endpoints.unseal.body.example, { reset: true }],
  rekey: [{ start: true, shares: 5, threshold: 3, recipients: ["age1x"] }, { share64: "x" }, { reset: true }],
  seal: [{}],
  promote: [endpoints.promote.body.example, { ...endpoints.promote.body.example, dryRun: true }],
  createKey: [endpoints.createKey.body.example],
  rotateKey: [endpoints.rotateKey.body.example],
  refreshKey: [{ baseGeneration: 1, authorities: [{ id: "arbitrary" }], assetOwner: "desk-7" }],
  destroyKey: [endpoints.destroyKey.body.example, { baseGeneration: 2, generation: 2, final: true }],
  sign: [endpoints.sign.body.example],
  verify: [endpoints.verify.body.example],
  repairKey: [endpoints.repairKey.body.example],
};

/** Other values for a part of a body: of every type, at every bound, in and out of every form. */
const replacement = (part: unknown): fc.Arbitrary<unknown> => {
  const text = typeof part === "string" ? part : "x";
  return fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      1,
      2,
      255,
      256,
      65_535,
      65_536,
      -1,
      1.5,
      2 ** 53,
      "",
      "A",
      "AA",
      "AB",
    ),
    fc.constantFrom<unknown>([], {}, [null], ["usb"], ["usb", "USB"], Array(17).fill("usb"), { "": "x" }, { a: "b" }),
    fc.constantFrom("=", "+", "é", "-", ".", "A", "B", "\n").map((each) => text + each),
    fc.constantFrom("platform", "cross-platform", "SIGNATURE", "public-key", text.slice(1), text.slice(0, -1)),
    fc.nat(300).map((length) => "a".repeat(length)),
    fc.nat(40).map((count) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "v"]))),
  );
};

/** A body with one part of it replaced, left out, or with one more beside it. */
const mutated = (value: unknown): fc.Arbitrary<unknown> => {
  if (Array.isArray(value) && value.length > 0)
    return fc.oneof(
      replacement(value),
      fc.nat(value.length - 1).chain((at) => mutated(value[at]).map((each) => value.with(at, each))),
    );
  if (typeof value !== "object" || value === null) return replacement(value);
  const entries = Object.entries(value);
  const beside = fc
    .tuple(fc.constantFrom("x", "type", "reset", "share64", "start", "rk", "userHandle", "credProps"), replacement(""))
    .map(([name, each]) => ({ ...value, [name]: each }));
  if (entries.length === 0) return beside;
  const inside = fc.constantFrom(...entries);
  return fc.oneof(
    { weight: 1, arbitrary: beside },
    { weight: 1, arbitrary: inside.map(([left]) => Object.fromEntries(entries.filter(([name]) => name !== left))) },
    {
      weight: 4,
      arbitrary: inside.chain(([name, each]) => mutated(each).map((other) => ({ ...value, [name]: other }))),
    },
  );
};

describe("the described schema and the reader", () => {
  it("are compared for every body but that of options, which is read together with the configuration", () => {
    const shapes = new Set(namedEndpoints.flatMap(([, { body }]) => (body === undefined ? [] : [body.shape])));
    for (const name of Object.keys(judges) as ReadonlyArray<Judged>) shapes.delete(endpoints[name].body.shape);
    const { startEnrollment, resolvePolicy } = endpoints;
    expect(shapes).toEqual(new Set([startEnrollment.body.shape, resolvePolicy.body.shape]));
  });

  it.each(Object.keys(judges) as ReadonlyArray<Judged>)("agree on every body of %s", (name) => {
    const isDescribed = schemaOf(name);
    const taken = (body: unknown) => Either.isRight(judges[name](utf8ToBytes(JSON.stringify(body))));
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(
        fc.constantFrom(...bodies[name]).chain((body) => fc.oneof(fc.constant(body), mutated(body))),
        (body) => {
          seen.add(isDescribed(body));
          expect([isDescribed(body), body]).toEqual([taken(body), body]);
        },
      ),
      { numRuns: 2_000 },
    );
    expect(seen).toEqual(new Set([true, false]));
  });

  it("agree on policies, but for counts and aliases that only the reader compares", () => {
    const { shape, example, maxBytes } = endpoints.resolvePolicy.body;
    const isDescribed = schemaOf("resolvePolicy");
    const seen = new Set<boolean>();
    fc.assert(
      fc.property(fc.oneof(fc.constant(example), mutated(example)), (body) => {
        const { read, faults } = readDraft(utf8ToBytes(JSON.stringify(body)), shape, maxBytes);
        const isTaken = read !== undefined && faults.length === 0;
        seen.add(isTaken);
        if (isTaken) expect([isDescribed(body), body]).toEqual([true, body]);
      }),
      { numRuns: 2_000 },
    );
    expect(seen).toEqual(new Set([true, false]));
  });
});
