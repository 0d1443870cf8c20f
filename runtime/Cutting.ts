/**
 * How a range comes to be cut that grows to more rows than it may have. All of them are read for that, and held against
 * its sum, but not at once: a few with each transaction that makes it larger, so that none waits for thousands.
 */
import { between, type Member, modulo, tableOf } from "./Ranges.ts";
import type { Piece } from "./RowSum.ts";

/** What a transaction does to the rows of a range; what it replaces is both. */
export interface Moved {
  readonly removed: ReadonlyArray<Member>;
  readonly added: ReadonlyArray<Member>;
}

/** The rows of a range up to a name, as they are by now. */
export interface Cutting {
  /** In order, each of one table as it was read. */
  readonly pieces: ReadonlyArray<Piece>;
  /** The name; undefined where all were read. */
  readonly upTo: string | undefined;
}

/** The first rows above a name, all of one table; none where there are no more. */
export type Read = (above: string) => ReadonlyArray<Member>;

export const sumOf = (members: ReadonlyArray<Member>): bigint =>
  modulo(members.reduce((sum, { element }) => sum + element, 0n));

/** Before any row of a range was read that begins after a name. */
export const unread = (after: string): Cutting => ({ pieces: [], upTo: after });

const rowsOf = (pieces: ReadonlyArray<Piece>): number => pieces.reduce((sum, { rows }) => sum + rows, 0);

/**
 * How many rows are to be read with a transaction, so that all are known once no more fit in: where those that are left
 * are twice as many as still fit in, the same share of them that it takes of what fits in.
 *
 * @param rows those of the range before it
 * @param room how many more fit in after it
 */
export const rowsDue = ({ pieces }: Cutting, rows: number, room: number, added: number): number => {
  const left = rows - rowsOf(pieces);
  // One more shows that there are no others.
  if (room < 0) return left + 1;
  return left <= 2 * room ? 0 : Math.ceil((left * added) / (room + added));
};

/**
 * Reads on, whole pieces.
 *
 * @param begin the name that the range begins after
 * @param due rows, at least
 */
export const readOn = ({ pieces, upTo }: Cutting, begin: string, due: number, read: Read): Cutting => {
  let now: Cutting = { pieces, upTo };
  for (let rows = 0; now.upTo !== undefined && rows < due; ) {
    const members = read(now.upTo);
    const [first, last] = [members[0], members.at(-1)];
    if (first === undefined || last === undefined) return { pieces: now.pieces, upTo: undefined };
    const after = now.pieces.length === 0 ? begin : between(now.upTo, first.name);
    const piece = { after, rows: members.length, sum: sumOf(members), last: last.name };
    now = { pieces: [...now.pieces, piece], upTo: last.name };
    rows += members.length;
  }
  return now;
};

const byName = (left: Member, right: Member): number => (left.name < right.name ? -1 : 1);

/** Rows in their order as pieces, each of one table. */
const piecesOf = (begin: string, members: ReadonlyArray<Member>, most: number): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = [];
  let from = 0;
  members.forEach(({ name }, at) => {
    const next = members[at + 1];
    if (next !== undefined && at + 1 < from + most && tableOf(next.name) === tableOf(name)) return;
    const part = members.slice(from, at + 1);
    const before = pieces.at(-1);
    const after = before === undefined ? begin : between(before.last, part[0]?.name ?? name);
    pieces.push({ after, rows: part.length, sum: sumOf(part), last: name });
    from = at + 1;
  });
  return pieces;
};

/**
 * A piece that a transaction alone makes too large, as pieces; they come to it where its rows are those that were read.
 *
 * @param end where it ends
 * @param size rows of a piece, at most
 */
export const refined = (
  { after, rows }: Piece,
  end: string | undefined,
  { removed, added }: Moved,
  read: Read,
  size: number,
): ReadonlyArray<Piece> => {
  const gone = new Set(removed.map(({ name }) => name));
  const isIn = ({ name }: Member): boolean => name > after && (end === undefined || name <= end);
  const members: Array<Member> = [];
  for (let above: string | undefined = after; above !== undefined && members.length <= rows + gone.size; ) {
    const part: ReadonlyArray<Member> = read(above).filter(isIn);
    members.push(...part);
    above = part.at(-1)?.name;
  }
  const stay = members.filter(({ name }) => !gone.has(name));
  return piecesOf(after, [...stay, ...added.filter(isIn)].toSorted(byName), size);
};

/** The same rows after a transaction. */
export const changedBy = ({ removed, added }: Moved, begin: string, { pieces: before, upTo }: Cutting): Cutting => {
  const isEmpty = before.length === 0 && upTo === undefined;
  const pieces = isEmpty ? [{ after: begin, rows: 0, sum: 0n, last: begin }] : [...before];
  const count = ({ name, element }: Member, sign: 1 | -1): void => {
    const at = pieces.findLastIndex(({ after }) => after < name);
    const piece = pieces[at];
    if (piece === undefined || (upTo !== undefined && name > upTo)) return;
    const last = sign === 1 && name > piece.last ? name : piece.last;
    const sum = modulo(sign === 1 ? piece.sum + element : piece.sum - element);
    pieces[at] = { after: piece.after, rows: piece.rows + sign, sum, last };
  };
  for (const member of removed) count(member, -1);
  for (const member of added) count(member, 1);
  return { pieces, upTo };
};

/** Where several tables meet, as near to the middle as they do. */
const borderIn = (pieces: ReadonlyArray<Piece>): number | undefined => {
  const middle = rowsOf(pieces) / 2;
  let nearest: readonly [at: number, distance: number] | undefined;
  let rows = 0;
  pieces.forEach((piece, at) => {
    const before = pieces[at - 1];
    const distance = Math.abs(rows - middle);
    rows += piece.rows;
    if (before === undefined || tableOf(before.last) === tableOf(piece.last)) return;
    if (nearest === undefined || distance < nearest[1]) nearest = [at, distance];
  });
  return nearest?.[0];
};

/** All of them as one; undefined where there are none. */
export const joined = (pieces: ReadonlyArray<Piece>): Piece | undefined => {
  const [first, last] = [pieces[0], pieces.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const sum = modulo(pieces.reduce((all, piece) => all + piece.sum, 0n));
  return { after: first.after, rows: rowsOf(pieces), sum, last: last.last };
};

/**
 * Puts together what may be together: between tables where several meet it is cut, so that each grows by itself, and
 * else left in pieces.
 *
 * @param most rows of what is put together
 */
export const cut = (pieces: ReadonlyArray<Piece>, most: number): ReadonlyArray<Piece> => {
  const whole = joined(pieces);
  if (whole === undefined) return [];
  if (whole.rows <= most) return [whole];
  const border = borderIn(pieces);
  if (border === undefined) return pieces;
  return [pieces.slice(0, border), pieces.slice(border)].flatMap((part) => cut(part, most));
};
