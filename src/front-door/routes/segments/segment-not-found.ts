import { RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'
import type { RequestContext } from '../../app-context.ts'
import { readId } from '../../../rules/read-id.ts'

export const segmentNotFound = () => new RequestError('not_found', { reason: faultOf('', 'no_segment') })

/** Returns the id in the path. Throws RequestError `not_found` when it is not a UUID. */
export function requireSegmentId({ params }: RequestContext): string {
  const id = readId(params['segmentId'])
  if (id === null) throw segmentNotFound()
  return id
}
