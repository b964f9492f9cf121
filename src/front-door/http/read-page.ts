import { faultOf } from '../../rules/faults.ts'
import { invalidRequest } from './check-body.ts'
import type { RequestContext } from '../app-context.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 500

export interface Page {
  limit: number
  cursor: string | null
}

/** Reads `limit` and `cursor` of a list. Throws RequestError `invalid_request`. */
export function readPage(context: RequestContext): Page {
  const query = queryOf(context)
  const limit = query.get('limit')
  if (limit !== null && !/^[1-9]\d{0,2}$/.test(limit)) throw limitFault()
  const wanted = limit === null ? DEFAULT_LIMIT : Number(limit)
  if (wanted > MAX_LIMIT) throw limitFault()
  return { limit: wanted, cursor: query.get('cursor') }
}

export function queryOf({ request }: RequestContext): URLSearchParams {
  return new URL(request.url).searchParams
}

export function invalidCursor() {
  return invalidRequest([faultOf('cursor', 'cursor')])
}

function limitFault() {
  return invalidRequest([faultOf('limit', 'whole_number', { min: 1, max: MAX_LIMIT })])
}

/** For the OpenAPI description. */
export const PAGE_QUERY = {
  limit: {
    schema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    description: 'The maximum number of entries in a page.',
  },
  cursor: {
    schema: { type: 'string' },
    description: 'The nextCursor of the previous page. Leave it out for the first page.',
  },
} as const
