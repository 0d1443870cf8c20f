/**
 * How stored, signed and sent data can grow (docs/decisions/0027-versions.md): it starts with a number, and the form
 * that belongs to the number is known for ever. In memory there is only the newest form.
 *
 * Signed or hashed data is {@link kept} in the version it was made in, to the byte; all other data is written in the
 * version its writer is asked for ({@link writtenIn}).
 */
import type { Codec } from "./Codec.ts";
import { expected } from "./DecodeFault.ts";

/** The newest version that this program knows. */
export const NEWEST = 3;

/** The forms of one kind of thing, by the versions they begin with. */
export interface Forms<A> {
  /** The first version that has this kind of thing. */
  readonly first: number;
  /** The form that belongs to a version: writes the fields of that version, and reads them as the newest. */
  at(version: number): Codec<A>;
  /** One more form: all fields of the one before, which never change their meaning, and something new. */
  since<B extends A>(version: number, codec: Codec<B>, up: (older: A) => B): Forms<B>;
}

interface Form<A> {
  readonly version: number;
  readonly codec: Codec<A>;
}

const formsIn = <A>(newest: Form<A>, older: ReadonlyArray<Form<A>>): Forms<A> => ({
  first: older[0]?.version ?? newest.version,
  at: (version) => {
    if (version >= newest.version) return newest.codec;
    const form = older.findLast((each) => each.version <= version);
    if (form === undefined) throw expected(`version ${older[0]?.version ?? newest.version} or a later one`);
    return form.codec;
  },
  since: <B extends A>(version: number, codec: Codec<B>, up: (older: A) => B) =>
    formsIn<B>(
      { version, codec },
      [...older, newest].map((form) => ({
        version: form.version,
        codec: { write: form.codec.write, read: (source) => up(form.codec.read(source)) },
      })),
    ),
});

/** Forms of a kind that has only one, from a version on. */
export const formsOf = <A>(codec: Codec<A>, since = 1): Forms<A> => formsIn({ version: since, codec }, []);

/** The forms of a codec that may have only one so far. */
export const formsFor = <A>(what: Codec<A> | Forms<A>): Forms<A> => ("at" in what ? what : formsOf(what));

/** Written in this version; read in every version that the reader knows. */
export const writtenIn = <A>(version: number, what: Codec<A> | Forms<A>): Codec<A> => {
  const forms = formsFor(what);
  const own = forms.at(version);
  return {
    write: (value, sink) => {
      sink.list(2);
      sink.uint(version);
      own.write(value, sink);
    },
    read: (source) => forms.at(source.version()).read(source),
  };
};

/** A value that says which version it was made in. */
export interface Made {
  readonly version: number;
}

/** Written in the version it was made in, so that its digest and its signatures stay valid. */
export const kept = <A extends object>(what: Codec<A> | Forms<A>): Codec<A & Made> => {
  const forms = formsFor(what);
  return {
    write: (value, sink) => {
      sink.list(2);
      sink.uint(value.version);
      forms.at(value.version).write(value, sink);
    },
    read: (source) => {
      const version = source.version();
      return Object.assign(forms.at(version).read(source), { version });
    },
  };
};
