/** Reads segments, their members, and why a contact is a member. */
import { faultOf } from '../../../rules/faults.ts'
import { explainSegment } from '../../../segments/explain-segment.ts'
import { hasSegment, listSegments, readSegment } from '../../../segments/list-segments.ts'
import { readMembersAt } from '../../../segments/read-members-at.ts'
import { readMembers } from '../../../segments/read-members.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { invalidCursor, queryOf, readPage } from '../../http/read-page.ts'
import { contactNotFound } from '../contacts/contact-not-found.ts'
import { hideValues } from './hide-values.ts'
import { readInstants } from './read-instants.ts'
import { clickHouseUnavailable } from '../../health/clickhouse-unavailable.ts'
import { requireSegmentId, segmentNotFound } from './segment-not-found.ts'

export const LISTED = 'The segments.'
export const READ = 'The segment.'
export const MEMBERS = 'The members, newest entry first.'
export const EXPLAINED = 'The explanation.'

export async function getSegments(app: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  return { message: LISTED, data: { segments: await listSegments(app.sql, business.id) } }
}

export async function getSegment(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const segment = await readSegment(app.sql, principal.business.id, requireSegmentId(context))
  if (segment === null) throw segmentNotFound()
  const rule = principal.can('contacts:read') ? segment.rule : hideValues(segment.rule)
  return { message: READ, data: { segment: { ...segment, rule } } }
}

export async function getMembers(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const { at } = readInstants(queryOf(context), ['at'])
  const query = { ...(await requireSegment(app, context, business.id)), ...readPage(context) }
  const listed =
    at === undefined
      ? ((await readMembers(app.sql, query)) ?? 'invalid_cursor')
      : await readMembersAt(app, { ...query, at })
  return { message: MEMBERS, data: requireHistory(app, listed) }
}

export async function getExplanation(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const sent = queryOf(context).get('contactId')
  if (sent === null) throw invalidRequest([faultOf('contactId', 'required')])
  const businessId = principal.business.id
  const segmentId = requireSegmentId(context)
  const contactId = readId(sent)
  if (contactId === null) throw contactNotFound()
  const explained = await explainSegment(app, { businessId, segmentId, contactId })
  if (explained === 'segment_not_found') throw segmentNotFound()
  if (explained === 'contact_not_found') throw contactNotFound()
  return { message: EXPLAINED, data: explained }
}

/** Throws RequestError `not_found`. */
export async function requireSegment({ sql }: AppContext, context: RequestContext, businessId: string) {
  const segmentId = requireSegmentId(context)
  if (!(await hasSegment(sql, businessId, segmentId))) throw segmentNotFound()
  return { businessId, segmentId }
}

/** Throws RequestError: invalid_request, unavailable. */
export function requireHistory<Read>(app: AppContext, read: Read | 'invalid_cursor' | 'unavailable'): Read {
  if (read === 'invalid_cursor') throw invalidCursor()
  if (read === 'unavailable') throw clickHouseUnavailable(app)
  return read
}
