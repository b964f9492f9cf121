/** Saves, lists and deletes spend on advertising. */
import { Buffer } from 'node:buffer'
import { SPEND_DAYS, type SpendRow, isDay, keyOfSpend, readSpendRow } from '../../../analytics/spend-row.ts'
import { MAX_SPEND_ROWS, deleteSpend, listSpend, saveSpend } from '../../../analytics/spend.ts'
import { type Issue, RequestError } from '../../../errors.ts'
import { isClean } from '../../../rules/events/text.ts'
import { faultOf, moveFault } from '../../../rules/faults.ts'
import { acquireSlot } from '../../access/concurrency-limit.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { isRecord } from '../../../rules/is-record.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { invalidCursor, queryOf, readPage } from '../../http/read-page.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { SpendFrameSchema } from './schemas.ts'

export const LISTED = 'The spend.'
export const SAVED = 'The spend is saved.'
export const DELETED = 'The spend is deleted.'

const checkFrame = compileCheck(SpendFrameSchema)
const MAX_ISSUES = 20

export async function postSpend(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.batch)
  const { spend: sent } = requireBody(checkFrame(body))
  const rows = readRows(sent, business.currency)
  await acquireChangeSlot(app, context, business.id)
  const saved = await saveSpend(app.sql, { businessId: business.id, actor }, rows)
  if (saved === 'limit_reached') throw tooManyRows()
  return { message: SAVED, data: { received: rows.length, ...saved } }
}

export const tooManyRows = () =>
  new RequestError('limit_reached', { reason: faultOf('', 'spend_full', { max: MAX_SPEND_ROWS }) })

function readRows(sent: readonly unknown[], currency: string): SpendRow[] {
  const issues: Issue[] = []
  const places = new Map<string, number>()
  const rows = sent.flatMap((raw, place): SpendRow[] => {
    const path = `spend.${place}`
    if (!isRecord(raw)) {
      issues.push(faultOf(path, 'object'))
      return []
    }
    const read = readSpendRow(raw, currency)
    if ('faults' in read) {
      issues.push(...read.faults.map((fault) => moveFault(fault, `${path}.${fault.path}`)))
      return []
    }
    const key = keyOfSpend(read.row)
    const earlier = places.get(key)
    if (earlier !== undefined) issues.push(faultOf(path, 'same_spend', { row: earlier }))
    places.set(key, place)
    return [read.row]
  })
  if (issues.length > 0) throw invalidRequest(issues.slice(0, MAX_ISSUES))
  return rows
}

export async function getSpend(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const { limit, cursor } = readPage(context)
  const before = cursor === null ? null : readCursor(cursor)
  const query = queryOf(context)
  const [from, to] = [readDay(query, 'from') ?? SPEND_DAYS[0], readDay(query, 'to') ?? SPEND_DAYS[1]]
  const rows = await listSpend(app.sql, { businessId: business.id, from, to, before, limit: limit + 1 })
  const spend = rows.slice(0, limit)
  const last = rows.length > limit ? spend.at(-1) : undefined
  return { message: LISTED, data: { spend, nextCursor: last === undefined ? null : writeCursor(last) } }
}

export async function removeSpend(
  app: AppContext,
  context: RequestContext,
  { business, actor }: Principal,
): Promise<Reply> {
  const query = queryOf(context)
  const [from, to] = [readDay(query, 'from'), readDay(query, 'to')]
  if (from === undefined || to === undefined) {
    const missing = [...(from === undefined ? ['from'] : []), ...(to === undefined ? ['to'] : [])]
    throw invalidRequest(missing.map((path) => faultOf(path, 'required')))
  }
  if (from >= to) throw invalidRequest([faultOf('from', 'before_to')])
  await acquireChangeSlot(app, context, business.id)
  return {
    message: DELETED,
    data: { ...(await deleteSpend(app.sql, { businessId: business.id, actor }, { from, to })) },
  }
}

/**
 * Changes of one business wait for each other in Postgres. The slots prevent them from holding all connections in the
 * meantime.
 */
const acquireChangeSlot = (app: AppContext, context: RequestContext, businessId: string): Promise<void> =>
  acquireSlot(app.slots.read, context, businessId)

function readDay(query: URLSearchParams, name: 'from' | 'to'): string | undefined {
  const sent = query.get(name)?.trim()
  if (sent === undefined || isDay(sent)) return sent
  // `to` is exclusive, so it may be the day after the last one.
  if (name === 'to' && sent === SPEND_DAYS[1]) return sent
  throw invalidRequest([faultOf(name, 'date')])
}

/** Returns a cursor: the key of the last row of a page. */
const writeCursor = ({ day, channel, source, campaign, currency }: SpendRow): string =>
  Buffer.from(JSON.stringify([day, channel, source, campaign, currency])).toString('base64url')

function readCursor(cursor: string): Omit<SpendRow, 'amount'> {
  const [day, ...texts] = partsOf(cursor)
  const [channel, source, campaign, currency] = texts
  const areTexts = texts.length === 4 && texts.every((one) => typeof one === 'string' && isClean(one))
  if (!isDay(day) || !areTexts) throw invalidCursor()
  return { day, channel, source, campaign, currency } as Omit<SpendRow, 'amount'>
}

function partsOf(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
