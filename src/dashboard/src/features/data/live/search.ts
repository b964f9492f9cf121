/** Filters of the requests, which are in the URL. */
export const OUTCOMES = ['done', 'warned', 'queued', 'refused', 'limited', 'failed'] as const
export type Outcome = (typeof OUTCOMES)[number]

export interface Filter {
  event?: string
  outcome?: Outcome
  key?: string
  contactId?: string
}

const MAX_TEXT = 200

/** The end of a key may consist of digits only. A URL typed by hand then yields a number. */
const readText = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim().slice(0, MAX_TEXT) : ''

export function readFilter(search: Record<string, unknown>): Filter {
  const [event, key, contactId] = [search['event'], search['key'], search['contactId']].map(readText)
  const outcome = OUTCOMES.find((one) => one === search['outcome'])
  return { ...(event && { event }), ...(outcome && { outcome }), ...(key && { key }), ...(contactId && { contactId }) }
}
