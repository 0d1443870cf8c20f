/** The pages of a peer, and the description of its API. */
import { ENROLL_PATH } from "../../enroll/EnrollmentPage.ts";
import type { Shape } from "../../../core/codec/Shape.ts";
import { endpoint } from "./Endpoint.ts";

const tag = "Pages";
const HTML = "text/html; charset=utf-8";

const anyObject: Shape<unknown> = {
  schema: { type: "object" },
  read: (value, place) => (value instanceof Map ? value : place.wrongType(value, "an object")),
};

const open = { method: "GET", tag, kind: "open", token: "none" } as const;

export const pageEndpoints = {
  readDescription: endpoint({
    ...open,
    path: "/openapi.json",
    summary: "This description",
    answers: { 200: { description: "OpenAPI 3.1.", shape: anyObject, example: { openapi: "3.1.0" } } },
    problems: ["REQUEST_CAPACITY"],
  }),
  readReference: endpoint({
    ...open,
    path: "/docs",
    summary: "This description, to be read",
    answers: { 200: { description: "A page without scripts.", type: HTML } },
    problems: ["REQUEST_CAPACITY"],
  }),
  readEnrollmentPage: endpoint({
    ...open,
    path: ENROLL_PATH,
    summary: "The page on which a holder makes a passkey",
    description: "Enrollment links lead here. Nothing behind `#` reaches a server.",
    answers: { 200: { description: "The page.", type: HTML } },
    problems: ["WEBAUTHN_DISABLED", "REQUEST_CAPACITY"],
  }),
  readEnrollmentFile: endpoint({
    ...open,
    path: `${ENROLL_PATH}/{file}`,
    summary: "A file of that page",
    parameters: [
      {
        in: "path",
        name: "file",
        description: "Its name.",
        isRequired: true,
        schema: { type: "string" },
        example: "enroll.css",
      },
    ],
    answers: { 200: { description: "The file, of its own media type.", type: "*/*" } },
    problems: ["WEBAUTHN_DISABLED", "NOT_FOUND", "REQUEST_CAPACITY"],
  }),
};
