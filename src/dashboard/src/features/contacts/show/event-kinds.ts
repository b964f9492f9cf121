import type { paths } from '../../../api.d.ts'

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
