/** What checkers look at in every table of subjects. */
import type { Write } from "../../core/Tables.ts";
import type { RowHooks, Watched } from "./Checker.ts";
import type { Product } from "../models/Product.ts";
import type { Subject } from "../models/Subject.ts";

/** A change of a row of a subject, whichever its table is. */
export type SubjectWrite =
  | { readonly op: "insert" | "replace"; readonly key: string; readonly row: object }
  | { readonly op: "remove"; readonly key: string };

type SubjectHook = (peer: Watched, write: SubjectWrite, writes: ReadonlyArray<Write>) => void;

/** By table: the hook made for its subject. */
export const ofSubjects = ({ subjects }: Product, make: (subject: Subject) => SubjectHook): RowHooks =>
  Object.fromEntries(subjects.map((subject) => [subject.table, make(subject)]));
