/** What is in the URLs of the pages of contacts. */
import type { paths } from '../../api.d.ts'
import { STAGES, type Stage } from '../rules/stages.ts'

/** Filters of the list, which are in the URL. */
export interface ContactSearch {
  query?: string | undefined
  stage?: Stage | undefined
  tag?: string | undefined
  /** ID of a segment: lists its members. */
  segment?: string | undefined
  /** Key of a custom field. */
  field?: string | undefined
  /** Value of that custom field. */
  value?: string | undefined
}

/** The router parses text that looks like a number or a boolean into one. */
function readText(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
  return String(value).slice(0, 256) || undefined
}

export function readContacts(search: Record<string, unknown>): ContactSearch {
  const [query, tag, segment, field, value] = ['query', 'tag', 'segment', 'field', 'value'].map((name) =>
    readText(search[name]),
  )
  const stage = STAGES.find((one) => one === search['stage'])
  return {
    ...(query && { query }),
    ...(stage && { stage }),
    ...(tag && { tag }),
    ...(segment && { segment }),
    ...(field && { field, ...(value && { value }) }),
  }
}

type Query = NonNullable<
  paths['/dashboard/api/b/{businessId}/contacts/{contactId}/timeline']['get']['parameters']['query']
>

/** Meanings of events, by which the timeline is filtered. */
export const EVENT_KINDS = [
  'purchase',
  'refund',
  'booking',
  'lead',
  'checkout_started',
  'fulfilled',
  'cancelled',
  'none',
] as const satisfies readonly Query['type'][]

/** Filter of the timeline, which is in the URL. */
export interface TimelineSearch {
  type?: (typeof EVENT_KINDS)[number] | undefined
}

export function readTimeline({ type }: Record<string, unknown>): TimelineSearch {
  const kind = EVENT_KINDS.find((one) => one === type)
  return kind === undefined ? {} : { type: kind }
}
