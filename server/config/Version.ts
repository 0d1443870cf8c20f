/** The version of this package, from its own description. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Either, Schema } from "effect";

const Package = Schema.parseJson(Schema.Struct({ name: Schema.Literal("custody"), version: Schema.String }));

/** The version in the nearest `package.json` of this package above a file. */
export const packageVersion = (file: string): string => {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const found = Either.getOrUndefined(
      Either.flatMap(
        Either.try(() => readFileSync(join(folder, "package.json"), "utf8")),
        Schema.decodeUnknownEither(Package),
      ),
    );
    if (found !== undefined) return found.version;
  }
  return "unknown";
};
