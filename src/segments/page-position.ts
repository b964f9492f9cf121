/** The end of a page in a list that is sorted by time and id, newest first. */
export interface Position {
  /** Epoch milliseconds. */
  at: number
  /** A UUID. */
  id: string
}

/** The position before all rows. */
export const NEWEST: Position = { at: Number.MAX_SAFE_INTEGER, id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' }

const CURSOR = /^(-?\d{1,15})_([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$/

/** Returns null for a text that is not a cursor. */
export function readPosition(cursor: string): Position | null {
  const [, at, id] = CURSOR.exec(cursor) ?? []
  return at === undefined || id === undefined ? null : { at: Number(at), id }
}

/** @param rows the rows of the page, and one more if the list goes on */
export function toPage<Row extends Position>(rows: Row[], limit: number): { page: Row[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return { page, nextCursor: last === undefined ? null : `${last.at}_${last.id}` }
}
