/** Reads who entered and left a segment, and how large it was. */
import { faultOf } from '../../../rules/faults.ts'
import { readChanges } from '../../../segments/read-changes.ts'
import { readHistory } from '../../../segments/read-history.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { queryOf, readPage } from '../../http/read-page.ts'
import { readInstants } from './read-instants.ts'
import { requireHistory, requireSegment } from './read.ts'

export const CHANGES = 'The changes, newest first.'
export const HISTORY = 'The days, oldest first.'

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
/** Ten years. */
export const MAX_DAYS = 3660

export async function getChanges(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = readInstants(queryOf(context), ['from', 'to'])
  if (from >= to) throw invalidRequest([faultOf('from', 'before_to')])
  const query = { ...(await requireSegment(app, context, business.id)), ...readPage(context), from, to }
  return { message: CHANGES, data: requireHistory(app, await readChanges(app, query)) }
}

export async function getHistory(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const sent = readInstants(queryOf(context), ['from', 'to'])
  const { to = context.receivedAt } = sent
  const { from = Math.min(to, context.receivedAt - DEFAULT_DAYS * DAY_MS) } = sent
  if (from > to) throw invalidRequest([faultOf('from', 'not_after_to')])
  if (to - from > MAX_DAYS * DAY_MS) throw invalidRequest([faultOf('from', 'days_apart', { max: MAX_DAYS })])
  const query = { ...(await requireSegment(app, context, business.id)), from, to }
  return { message: HISTORY, data: { days: requireHistory(app, await readHistory(app, query)) } }
}
