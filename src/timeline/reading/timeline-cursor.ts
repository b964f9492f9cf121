import { Buffer } from 'node:buffer'

/** A position in a timeline: the last event of a page. New events do not move it. */
export interface TimelinePosition {
  occurred_ms: number
  event_id: string
}

const POSITION = /^(-?\d{1,16}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** Sorts newest first. At the same instant, the greater id comes first; ids created later are greater. */
export function newestFirst(a: TimelinePosition, b: TimelinePosition): number {
  if (a.occurred_ms !== b.occurred_ms) return b.occurred_ms - a.occurred_ms
  if (a.event_id === b.event_id) return 0
  return a.event_id > b.event_id ? -1 : 1
}

/** Encodes a position as text that is opaque to callers and safe in a URL. */
export function encodeCursor({ occurred_ms, event_id }: TimelinePosition): string {
  return Buffer.from(`${occurred_ms} ${event_id}`).toString('base64url')
}

/** Returns undefined for text that is not one of our cursors. */
export function decodeCursor(cursor: string): TimelinePosition | undefined {
  const [, ms, id] = POSITION.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  return ms === undefined || id === undefined ? undefined : { occurred_ms: Number(ms), event_id: id }
}
