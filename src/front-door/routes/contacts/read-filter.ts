/** Reads the filters of a list of contacts from a query. */
import type { ContactFilter } from '../../../contacts/read/list-contacts.ts'
import { STAGES } from '../../../rules/events/journey-stage.ts'
import { trimText } from '../../../rules/events/text.ts'
import { faultOf } from '../../../rules/faults.ts'
import { hasSegment } from '../../../segments/list-segments.ts'
import type { AppContext } from '../../app-context.ts'
import { invalidRequest, uncleanIssues } from '../../http/check-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { segmentNotFound } from '../segments/segment-not-found.ts'

export const MAX_QUERY = 256
export const MAX_TAG = 64

/** A blank filter counts as absent. Throws RequestError: invalid_request, not_found. */
export function readFilter(sent: URLSearchParams): Omit<ContactFilter, 'field'> {
  const read = (name: string): string | null => trimText(sent.get(name) ?? '') || null
  const [query, tag, stage, sentSegment] = [read('query'), read('tag'), read('stage'), read('segment')]
  const issues = uncleanIssues({ query: query ?? undefined, tag: tag ?? undefined })
  const place = STAGES.findIndex((name) => name.toLowerCase() === stage?.toLowerCase())
  if ((query?.length ?? 0) > MAX_QUERY) issues.push(faultOf('query', 'characters_up_to', { max: MAX_QUERY }))
  if ((tag?.length ?? 0) > MAX_TAG) issues.push(faultOf('tag', 'characters_up_to', { max: MAX_TAG }))
  if (stage !== null && place < 0) issues.push(faultOf('stage', 'one_of', { choices: STAGES.join(', ') }))
  if (issues.length > 0) throw invalidRequest(issues)
  const segment = sentSegment === null ? null : readId(sentSegment)
  if (sentSegment !== null && segment === null) throw segmentNotFound()
  return { query, tag, stage: stage === null ? null : place, segment }
}

/** Throws RequestError `not_found` when the business has no such segment. */
export async function requireFilter(
  { sql }: AppContext,
  businessId: string,
  { segment }: ContactFilter,
): Promise<void> {
  if (segment !== null && !(await hasSegment(sql, businessId, segment))) throw segmentNotFound()
}

/** For the OpenAPI description. */
export const FILTER_QUERY = {
  query: {
    schema: { type: 'string', maxLength: MAX_QUERY },
    description:
      'Part of a name, email, phone or customer id; case is ignored. A text of 1 or 2 characters must be the beginning of one. ' +
      'It is not a pattern: % and _ are ordinary characters.',
    example: 'lovel',
  },
  tag: { schema: { type: 'string', maxLength: MAX_TAG }, description: 'Only contacts with this tag.' },
  stage: { schema: { type: 'string', enum: STAGES }, description: 'Only contacts in this stage.' },
  segment: { schema: { type: 'string', format: 'uuid' }, description: 'Only members of this segment.' },
} as const
