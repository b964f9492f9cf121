import { Buffer } from 'node:buffer'

/** A place in a timeline: the last event of a page. New events do not move it. */
export interface Position {
  occurred_ms: number
  event_id: string
}

const POSITION = /^(-?\d{1,16}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** Opaque to callers, and safe in a URL. */
export function encodeCursor({ occurred_ms, event_id }: Position): string {
  return Buffer.from(`${occurred_ms} ${event_id}`).toString('base64url')
}

/** Undefined for text that is not one of ours. */
export function decodeCursor(cursor: string): Position | undefined {
  const [, ms, id] = POSITION.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  return ms === undefined || id === undefined ? undefined : { occurred_ms: Number(ms), event_id: id }
}
