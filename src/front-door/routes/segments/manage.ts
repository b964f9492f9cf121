/** Creates, changes and deletes segments. */
import { faultOf } from '../../../rules/faults.ts'
import { type SaveRefusal, createSegment } from '../../../segments/create-segment.ts'
import { deleteSegment as deleteOne } from '../../../segments/delete-segment.ts'
import { MAX_CONDITIONS, MAX_SEGMENTS } from '../../../segments/limits.ts'
import { updateSegment } from '../../../segments/update-segment.ts'
import { RequestError } from '../../../errors.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody, uncleanIssues } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { CHECKED } from './schemas.ts'
import { requireSegmentId, segmentNotFound } from './segment-not-found.ts'

export const CREATED = 'The segment is created.'
export const UPDATED = 'The segment is changed.'
export const DELETED = 'The segment is deleted.'

const checkNew = compileCheck(CHECKED.create)
const checkChange = compileCheck(CHECKED.change)

export async function postSegment(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { name, description = '', rule } = requireBody(checkNew(body))
  refuseUnclean({ name, description })
  const wanted = { name, description: description || null, rule }
  const created = await createSegment(app.sql, { businessId: business.id, actor }, wanted)
  if (created.kind !== 'created') throw refuse(created)
  return { message: CREATED, data: { segment: created.segment } }
}

export async function patchSegment(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const segmentId = requireSegmentId(context)
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { name, description, rule } = requireBody(checkChange(body))
  refuseUnclean({ name, description })
  const change = {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: description || null }),
    ...(rule !== undefined && { rule }),
  }
  if (Object.keys(change).length === 0) throw invalidRequest([NOTHING])
  const updated = await updateSegment(app.sql, { businessId: business.id, actor }, { segmentId, ...change })
  if (updated.kind === 'not_found') throw segmentNotFound()
  if (updated.kind !== 'updated') throw refuse(updated)
  return { message: UPDATED, data: { segment: updated.segment } }
}

export async function deleteSegment(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const segmentId = requireSegmentId(context)
  const outcome = await deleteOne(app.sql, { businessId: business.id, actor }, segmentId)
  switch (outcome.kind) {
    case 'not_found':
      throw segmentNotFound()
    case 'in_use':
      throw new RequestError('in_use', { reason: faultOf('', 'segment_used_by', { names: listNames(outcome.names) }) })
    case 'deleted':
      return { message: DELETED, data: { segmentId } }
  }
}

const NOTHING = faultOf('', 'at_least_one', { fields: 'name, description, rule' })

function refuseUnclean(fields: Record<string, string | undefined>): void {
  const issues = uncleanIssues(fields)
  if (issues.length > 0) throw invalidRequest(issues)
}

function refuse(refusal: SaveRefusal): RequestError {
  switch (refusal.kind) {
    case 'faults':
      return invalidRequest(refusal.faults)
    case 'too_many_segments':
      return new RequestError('limit_reached', { reason: faultOf('', 'segments_full', { max: MAX_SEGMENTS }) })
    case 'too_many_conditions':
      return new RequestError('limit_reached', { reason: faultOf('', 'conditions_full', { max: MAX_CONDITIONS }) })
  }
}

/** Limit of the names in a message: a thousand names would help nobody. */
const MAX_NAMES = 10

function listNames(names: string[]): string {
  const shown = names.slice(0, MAX_NAMES)
  const more = names.length - shown.length
  const listed = more > 0 ? [...shown, `${more.toLocaleString('en-US')} more`] : shown
  return listed.length === 1 ? String(listed[0]) : `${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`
}
