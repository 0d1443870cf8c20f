/** Holds live answers against the description of the API: every answer that a test gets is one that is described. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { Either } from "effect";
import type { BodyFault } from "../../core/base/Rejection.ts";
import { Place, type Shape } from "../../core/codec/Shape.ts";
import { parseStrictJson } from "../../core/codec/StrictJson.ts";
import { namedEndpoints } from "../../server/http/endpoints/Endpoints.ts";
import { openApi } from "../../server/http/endpoints/OpenApi.ts";
import { problemShape } from "../../server/http/endpoints/SystemAnswers.ts";

export interface LiveAnswer {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const document = openApi("0.0.0");
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema(document, "api");
const compiled = new Map<string, ValidateFunction>();

const validator = (pointer: string): ValidateFunction => {
  const made = compiled.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` });
  compiled.set(pointer, made);
  return made;
};

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** What a pointer leads to through references, and where that is. */
const followed = (names: ReadonlyArray<string>): { readonly names: ReadonlyArray<string>; readonly value: unknown } => {
  const value = names.reduce<unknown>(member, document);
  const reference = member(value, "$ref");
  return typeof reference === "string" ? followed(reference.slice(2).split("/")) : { names, value };
};

const endpointOf = (method: string, target: string) => {
  const path = target.split("?", 1)[0] ?? "";
  const wanted = method === "HEAD" ? "GET" : method;
  const matching = namedEndpoints.filter(([, endpoint]) => {
    const pattern = endpoint.path.replaceAll(/[.]/g, "\\.").replaceAll(/\{\w+\}/g, "[^/]+");
    return endpoint.method === wanted && new RegExp(`^${pattern}$`).test(path);
  });
  return matching.find(([, { path: each }]) => each === path) ?? matching[0];
};

/** Headers that tell something about an answer, each described where it can come. */
const telling = ["etag", "x-expires-at", "retry-after", "www-authenticate", "allow", "content-disposition"];

const undescribedFields = (shape: Shape<unknown>, text: string): ReadonlyArray<string> => {
  const faults: Array<BodyFault> = [];
  const read = parseStrictJson(utf8ToBytes(text));
  if (Either.isLeft(read)) return [`no strict JSON: ${read.left.detail}`];
  shape.read(read.right, new Place(undefined, "", faults));
  return faults.map(({ pointer, code }) => `${pointer} ${code}`);
};

/** What in an answer is not as the description has it. */
export const undescribed = ({ method, target, status, headers, text }: LiveAnswer): ReadonlyArray<string> => {
  const [name, endpoint] = endpointOf(method, target) ?? [];
  const responses =
    endpoint === undefined ? undefined : ["paths", endpoint.path, endpoint.method.toLowerCase(), "responses"];
  const own = responses && followed([...responses, String(status)]);
  const isOwn = own?.value !== undefined;
  if (endpoint !== undefined && !isOwn) return [`${name} is not described to answer ${status}: ${text.slice(0, 200)}`];
  const { names, value } = isOwn ? own : followed(["components", "responses", "elsewhere"]);
  const described = Object.keys(member(value, "headers") ?? {}).map((each) => each.toLowerCase());
  const wrongHeaders = [
    ...telling
      .filter((each) => headers.has(each) && !described.includes(each))
      .map((each) => `${each} is not described`),
    ...described
      .filter((each) => !["retry-after", "allow"].includes(each) && !headers.has(each))
      .map((each) => `${each} is described and not there`),
  ];
  if (text === "" || method === "HEAD") return wrongHeaders;
  const type = headers.get("content-type") ?? "";
  const types = Object.keys(member(value, "content") ?? {});
  if (types.includes("*/*")) return wrongHeaders;
  if (!types.includes(type)) return [...wrongHeaders, `${type} is none of ${types.join()}`];
  if (!type.endsWith("json")) return wrongHeaders;
  const validate = validator(`/${[...names, "content", type, "schema"].map(escaped).join("/")}`);
  validate(JSON.parse(text));
  const shape = type === "application/json" ? endpoint?.answers[status]?.shape : problemShape;
  return [
    ...wrongHeaders,
    ...(validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ""}`),
    ...(shape === undefined ? ["there is no shape"] : undescribedFields(shape, text)),
  ];
};
