/** The description of the API (OpenAPI 3.1), made from the definitions that the routes are made from. */
import { type JsonSchema, SHAPE_NAME } from "../../../core/codec/Shape.ts";
import { httpFault, PROBLEM_TYPE, problemOf } from "../HttpErrors.ts";
import { errorKinds, type ErrorCode } from "../Problems.ts";
import { curlExample } from "./CurlExample.ts";
import { anywhere, type Answer, type Endpoint, type HeaderName, problemsOf } from "./Endpoint.ts";
import { namedEndpoints } from "./Endpoints.ts";
import { problemShape } from "./SystemAnswers.ts";

export type Json = { readonly [name: string]: unknown };

const REQUEST_ID = "[A-Za-z0-9._-]{1,128}";
const exampleRequestId = "3f0c7f43-5a25-4f51-8f36-0b8b6f0c8a01";

const tags: ReadonlyArray<{ readonly name: string; readonly description: string }> = [
  { name: "Registry", description: "Approver credentials: public keys and passkeys, the same on every peer." },
  { name: "Keys", description: "Keys that all members make, and any threshold of them signs with." },
  { name: "Identities", description: "What the bearer of a token may sign with." },
  { name: "Policies", description: "Whose approvals a policy asks for, against the registry." },
  { name: "Configuration", description: "What this cluster is configured for." },
  {
    name: "System",
    description: "One peer and its operators. A call with a valid token is in the audit before it is answered.",
  },
  { name: "Pages", description: "For people, and for generators of clients." },
];

const header = (description: string, schema: Json, example: unknown): Json => ({ description, schema, example });

const headers: { readonly [N in HeaderName | "X-Request-Id" | "Retry-After" | "WWW-Authenticate" | "Allow"]: Json } = {
  "X-Request-Id": header(
    "The caller's, where it has the form, else a fresh one.",
    { type: "string" },
    exampleRequestId,
  ),
  ETag: header(
    "Of an approver the metadata revision, of a key its record's digest with what changes beside it, in quotes.",
    { type: "string", pattern: '^"[0-9a-z._-]+"$' },
    '"1"',
  ),
  "X-EXPIRES-AT": header("The deadline in Unix seconds, rounded down.", { type: "integer" }, 1_800_000_300),
  "Cache-Control": header("Kept by its reader alone, who asks each time.", { type: "string" }, "private, no-cache"),
  "Content-Disposition": header("A name for the file.", { type: "string" }, 'attachment; filename="custody.tar"'),
  "Retry-After": header("Seconds after which a repetition makes sense, at least.", { type: "integer" }, 1),
  "WWW-Authenticate": header("The challenge.", { type: "string" }, 'JWT realm="custody", header="X-JWT-TOKEN"'),
  Allow: header("The methods of the path.", { type: "string" }, "GET, HEAD"),
};

const headerRefs = (names: ReadonlyArray<keyof typeof headers>): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Schemas as the description has them: those with a name once, among its components. */
class Schemas {
  readonly components = new Map<string, unknown>();

  /**
   * @param isSent whether callers send it: of what they are sent there may be more fields in time, so that theirs are
   *   closed and ours are open
   */
  written(schema: JsonSchema, isSent: boolean): unknown {
    const name: unknown = Reflect.get(schema, SHAPE_NAME);
    if (typeof name !== "string") return this.#content(schema, isSent);
    if (!this.components.has(name)) {
      // Its place is taken first, so that the order is that of use.
      this.components.set(name, undefined);
      this.components.set(name, this.#content(schema, isSent));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  #content(value: unknown, isSent: boolean): unknown {
    if (Array.isArray(value)) return value.map((each: unknown) => this.#inside(each, isSent));
    if (!isObject(value)) return value;
    const entries = Object.entries(value).filter(
      ([keyword, each]) => isSent || keyword !== "additionalProperties" || each !== false,
    );
    return Object.fromEntries(entries.map(([keyword, each]) => [keyword, this.#inside(each, isSent)]));
  }

  #inside(value: unknown, isSent: boolean): unknown {
    return isObject(value) ? this.written(value, isSent) : this.#content(value, isSent);
  }
}

const answerOf = (schemas: Schemas, { description, type, shape, headers = [], example }: Answer): Json => {
  const schema = shape === undefined ? { type: "string" } : schemas.written(shape.schema, false);
  const content = { schema, ...(example === undefined ? {} : { example }) };
  const hasBody = shape !== undefined || type !== undefined;
  return {
    description,
    headers: headerRefs(["X-Request-Id", ...headers]),
    ...(hasBody ? { content: { [type ?? "application/json"]: content } } : {}),
  };
};

/** The example of a problem, as it is written. */
const exampleProblem = (code: ErrorCode): unknown =>
  JSON.parse(problemOf(httpFault(code, errorKinds[code].when, "What to do next."), exampleRequestId, 0).body);

const problemResponse = (codes: ReadonlyArray<ErrorCode>): Json => {
  const [first] = codes;
  const kinds = codes.map((code) => errorKinds[code]);
  const names = [
    "X-Request-Id" as const,
    ...(kinds.some(({ retryAfter }) => retryAfter !== undefined) ? (["Retry-After"] as const) : []),
    ...(codes.includes("UNAUTHENTICATED") ? (["WWW-Authenticate"] as const) : []),
    ...(codes.includes("METHOD_NOT_ALLOWED") ? (["Allow"] as const) : []),
  ];
  const statuses = [...new Set(kinds.map(({ status }) => status))];
  const properties = { status: { enum: statuses }, code: { enum: codes } };
  return {
    description: codes.map((code) => `- \`${code}\`: ${errorKinds[code].when}`).join("\n"),
    headers: headerRefs(names),
    content: {
      [PROBLEM_TYPE]: {
        schema: { allOf: [{ $ref: "#/components/schemas/Problem" }, { type: "object", properties }] },
        ...(first === undefined ? {} : { example: exampleProblem(first) }),
      },
    },
  };
};

/** What is answered where no endpoint is. */
const elsewhere: ReadonlyArray<ErrorCode> = ["NOT_FOUND", "METHOD_NOT_ALLOWED"];

const byStatus = (codes: ReadonlyArray<ErrorCode>): ReadonlyMap<number, ReadonlyArray<ErrorCode>> =>
  codes.reduce((found, code) => {
    const { status } = errorKinds[code];
    return found.set(status, [...(found.get(status) ?? []), code]);
  }, new Map<number, ReadonlyArray<ErrorCode>>());

const problemResponses = (endpoint: Endpoint): Json => {
  const codes = [...problemsOf(endpoint), ...anywhere].toSorted((a, b) => errorKinds[a].status - errorKinds[b].status);
  const responses = [...byStatus(codes)].map(([status, found]) => {
    const [only, ...more] = found;
    const isShared = only !== undefined && more.length === 0;
    return [status, isShared ? { $ref: `#/components/responses/${only}` } : problemResponse(found)] as const;
  });
  return { ...Object.fromEntries(responses), default: { $ref: "#/components/responses/elsewhere" } };
};

const securityOf = ({ token, permissions }: Endpoint): ReadonlyArray<Json> =>
  token === "none"
    ? []
    : [...(token === "optional" ? [{}] : []), ...(permissions?.map((each) => ({ token: [each] })) ?? [{ token: [] }])];

const operationOf = (schemas: Schemas, operationId: string, endpoint: Endpoint): Json => {
  const { tag, summary, description, permissions, parameters = [], body, answers } = endpoint;
  const told = [
    ...(description === undefined ? [] : [description]),
    ...(permissions === undefined ? [] : [`Permission: ${permissions.map((each) => `\`${each}\``).join(" or ")}.`]),
    ...(body === undefined ? [] : [`The body has at most ${body.maxBytes / 1024} KiB.`]),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    ...(told.length === 0 ? {} : { description: told.join("\n\n") }),
    security: securityOf(endpoint),
    parameters: [
      ...parameters.map(({ isRequired = false, schema, ...rest }) => ({
        ...rest,
        required: isRequired,
        schema: schemas.written(schema, true),
      })),
      { $ref: "#/components/parameters/RequestId" },
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.isOptional !== true,
            content: {
              "application/json": { schema: schemas.written(body.shape.schema, true), example: body.example },
            },
          },
        }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, each]) => [status, answerOf(schemas, each)])),
      ...problemResponses(endpoint),
    },
    "x-codeSamples": [{ lang: "Shell", label: "curl", source: curlExample(endpoint) }],
  };
};

const about = [
  "Every peer answers; a change is sent to any of them. What the calls promise: docs/contract.md of the package.",
  "**Token**: a JWT in `X-JWT-TOKEN`, judged with its permission before the body is read.",
  "**Bodies** are UTF-8 JSON of 64 levels and 16,384 values at most. Duplicate keys, unknown fields, null, wrong types, lone surrogates, a byte order mark and trailing bytes are refused, all faults named at once.",
  "`HEAD` works like `GET`. Every answer is `nosniff` and, but for exact reads, `no-store`; over TLS it has HSTS.",
  '**Problems** are RFC 9457 with a stable `code`. `outcomeUnknown: true` means that the change may still happen or have happened; else "not done" is certain. All 429 and most 503 have `Retry-After`.',
];

/**
 * The whole description.
 *
 * @param version of the program
 */
export const openApi = (version: string): Json => {
  const schemas = new Schemas();
  schemas.written(problemShape.schema, false);
  const paths: { [path: string]: { [method: string]: Json } } = {};
  for (const [name, endpoint] of namedEndpoints) {
    const operation = operationOf(schemas, name, endpoint);
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: operation };
  }
  const codes = new Set([...namedEndpoints.flatMap(([, each]) => problemsOf(each)), ...anywhere]);
  const written = JSON.stringify(paths);
  const shared = [...codes].filter((code) => written.includes(`"#/components/responses/${code}"`));
  const responses = Object.fromEntries([
    ...shared.map((code) => [code, problemResponse([code])] as const),
    ["elsewhere", problemResponse(elsewhere)],
  ]);
  const inUse = written + JSON.stringify(responses);
  return {
    openapi: "3.1.0",
    info: {
      title: "custody",
      version,
      summary: "Keys and approvers of a key custody cluster",
      description: about.join("\n\n"),
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This peer." }],
    tags,
    paths,
    components: {
      securitySchemes: { token: { type: "apiKey", in: "header", name: "X-JWT-TOKEN", description: "A JWT." } },
      parameters: {
        RequestId: {
          in: "header",
          name: "X-Request-Id",
          description: "Comes back with the answer.",
          required: false,
          schema: { type: "string", pattern: `^${REQUEST_ID}$` },
        },
      },
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) => inUse.includes(`"#/components/headers/${name}"`)),
      ),
      responses,
      schemas: Object.fromEntries(schemas.components),
    },
  };
};
