import type { paths } from '../../api.d.ts'

type Query = NonNullable<
  paths['/dashboard/api/b/{businessId}/contacts/{contactId}/timeline']['get']['parameters']['query']
>

/** What an event means, as the timeline is filtered by it. */
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

/** In the URL. */
export interface TimelineSearch {
  type?: (typeof EVENT_KINDS)[number] | undefined
}
