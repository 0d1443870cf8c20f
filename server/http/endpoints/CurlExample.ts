/** An endpoint's example as a command to paste. */
import { type Endpoint, filled, type Parameter } from "./Endpoint.ts";
import { shellWord } from "../../dev/ShellWord.ts";

const given = ({ parameters = [] }: Endpoint, place: Parameter["in"]): ReadonlyArray<readonly [string, string]> =>
  parameters.flatMap((each) => (each.in === place && each.example !== undefined ? [[each.name, each.example]] : []));

/** The path and query of the example. */
export const examplePath = (endpoint: Endpoint): string => {
  const values = given(endpoint, "path").map(([name, value]) => [name, encodeURIComponent(value)] as const);
  const path = filled(endpoint.path, Object.fromEntries(values));
  const query = given(endpoint, "query").map(([name, each]) => `${name}=${encodeURIComponent(each)}`);
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
};

/** Where the example puts an answer that is a file. */
const FILE = "custody.tar";

/**
 * The command. It takes the address from `$CUSTODY_URL`, and the token from a file of one line, `X-JWT-TOKEN: …`, that
 * `$CUSTODY_HEADER` names: an argument can be seen by every process. So can a share, which is why such a body is typed.
 */
export const curlExample = (endpoint: Endpoint): string => {
  const { method, token, body, answers } = endpoint;
  const isFile = Object.values(answers).some(({ headers = [] }) => headers.includes("Content-Disposition"));
  const lines = [
    `curl -sS ${isFile ? `-D - -o ${FILE}` : "-i"}${method === "GET" ? "" : ` -X ${method}`}`,
    ...(token === "none" ? [] : ['-H "@$CUSTODY_HEADER"']),
    ...given(endpoint, "header").map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'"]),
    ...(body === undefined
      ? []
      : [body.isSecret === true ? "--data-binary @-" : `-d ${shellWord(JSON.stringify(body.example))}`]),
    `"$CUSTODY_URL"${shellWord(examplePath(endpoint))}`,
  ];
  const command = lines.join(" \\\n  ");
  return body?.isSecret === true ? `${command} <<'END'\n${JSON.stringify(body.example)}\nEND` : command;
};
