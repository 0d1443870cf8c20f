/** The description of the API, for programs and for people. Both are made once, and hold nobody's data. */
import { fileURLToPath } from "node:url";
import { Effect } from "effect";
import { packageVersion } from "../config/Version.ts";
import { STRANGERS } from "./AnswerRoom.ts";
import { answer, type Handler } from "./ApiCall.ts";
import { openApi } from "./endpoints/OpenApi.ts";
import { pageEndpoints } from "./endpoints/PageEndpoints.ts";
import { referenceHeaders, referencePage } from "./endpoints/Reference.ts";

const document = openApi(packageVersion(fileURLToPath(import.meta.url)));
const described = { ...answer(pageEndpoints.readDescription, 200, document), caller: STRANGERS };
const page = {
  status: 200,
  type: pageEndpoints.readReference.answers[200].type,
  body: referencePage(document),
  headers: referenceHeaders,
  caller: STRANGERS,
};

/** GET /openapi.json. */
export const description: Handler = () => Effect.succeed(described);

/** GET /docs. */
export const reference: Handler = () => Effect.succeed(page);
