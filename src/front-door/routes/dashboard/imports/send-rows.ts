/** Records rows of a file as past events, and the choices in them. */
import { type Static, Type } from '@sinclair/typebox'
import { countRows, hasBegun } from '../../../../accounts/import-audit.ts'
import { createTurns } from '../../../../async/take-turns.ts'
import { recordPastChoices } from '../../../../contacts/record-past-choices.ts'
import { RequestError } from '../../../../errors.ts'
import { isKeyWarning } from '../../../../imports/key-warnings.ts'
import { type PreparedRow, prepareRow } from '../../../../imports/prepare-row.ts'
import { hashRow } from '../../../../imports/row-keys.ts'
import { faultOf } from '../../../../rules/faults.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { invalidRequest, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { refuse } from '../../../http/refused-item.ts'
import { readChoice } from '../../contacts/subscriptions-batch.ts'
import { closed, count, orNull } from '../../reply-fields.ts'
import { readEvent } from '../../sdk/read-event.ts'
import { recordBatch } from '../../sdk/track-batch.ts'
import { checkSend, readRows, readRules } from './import-body.ts'
import { Faults, type RowFault, describeFaults, issuesOf, leftOut, ofOptIn, rowFault } from './import-faults.ts'

export const SENT = 'The rows are sent.'

export const SentData = Type.Object(
  {
    recorded: count,
    deduped: Type.Integer({ minimum: 0, description: 'Known already: nothing was recorded twice.' }),
    queued: Type.Integer({ minimum: 0, description: 'Stored, and recorded later.' }),
    leftOut,
    faults: Faults,
    firstWarning: orNull(Type.String()),
    warnings: Type.Integer({ minimum: 0, description: 'A limited number is counted of each request.' }),
    keyWarnings: Type.Integer({
      minimum: 0,
      description: 'Of these, rows that were not recorded because an event of another name has their idempotency key.',
    }),
  },
  closed,
)

export async function postRows(
  app: AppContext,
  context: RequestContext,
  { business, actor }: Principal,
): Promise<Reply> {
  const sent = requireBody(checkSend(await readJson(app, context, BODY_LIMITS.file)))
  const rules = readRules(sent, business.id)
  const { rows, sources } = await readRows(sent)
  if (rows.length !== sent.numbers.length) throw invalidRequest([faultOf('numbers', 'item_for_each_row')])
  const { importId } = sent
  if (!(await hasBegun(app.sql, { businessId: business.id, actor, importId }))) throw new RequestError('not_found')
  const prepared: PreparedRow[] = []
  const turn = createTurns()
  for (const [index, row] of rows.entries()) {
    await turn()
    prepared.push(prepareRow(rules, row, hashRow(row), sent.numbers[index] ?? 1))
  }
  const good = prepared.filter((one) => 'event' in one)
  const data: Static<typeof SentData> = {
    recorded: 0,
    deduped: 0,
    queued: 0,
    leftOut: 0,
    faults: [],
    firstWarning: null,
    warnings: 0,
    keyWarnings: 0,
  }
  const bad = prepared.filter((one) => 'fault' in one)
  const faults = bad.filter((one) => !one.isLeftOut).map(({ row, fault }) => rowFault(row.number, fault))
  data.leftOut = bad.length - faults.length
  const keys = new Map<number, string>()
  if (good.length > 0) {
    const reply = await recordBatch(
      app,
      context,
      business,
      good.map(({ event }) => event),
    )
    const counted = reply.data as Counted
    const failures = counted.failures ?? []
    data.recorded = counted.recorded ?? 0
    data.deduped = counted.deduped ?? 0
    data.queued = counted.queued === true ? good.length - failures.length : 0
    const warnings = counted.warnings ?? []
    data.firstWarning = warnings[0] ?? null
    data.warnings = warnings.length
    data.keyWarnings = warnings.filter(isKeyWarning).length
    for (const { index, error } of failures) {
      const read = readEvent(good[index]?.event, business, context.receivedAt)
      // What can be read was refused by the worker.
      const issues = 'fact' in read ? [faultOf('', 'item_kept')] : issuesOf(read)
      faults.push({ row: good[index]?.row.number ?? 0, error, issues })
    }
    const failed = new Set(failures.map(({ index }) => index))
    const recorded = good.filter((_, index) => !failed.has(index))
    for (const { row, event } of recorded) keys.set(row.number, String(event['idempotencyKey']))
    faults.push(...(await recordChoices(app, context, business, recorded)))
  }
  const { recorded, deduped, queued } = data
  const counts = { sent: rows.length, recorded, deduped, queued, failed: faults.length }
  await countRows(app.sql, importId, sent.firstRow - 1, counts)
  data.faults = describeFaults(faults, { sources, firstRow: sent.firstRow, keys })
  return { message: SENT, data }
}

/** Records the choices of rows whose events are recorded. */
async function recordChoices(
  app: AppContext,
  context: RequestContext,
  business: Principal['business'],
  rows: readonly Extract<PreparedRow, { event: unknown }>[],
): Promise<RowFault[]> {
  const read: ({ row: number } & ReturnType<typeof readChoice>)[] = []
  const turn = createTurns()
  for (const { row, choices } of rows) {
    await turn()
    read.push(...choices.map((choice) => ({ row: row.number, ...readChoice(choice, business, context.receivedAt) })))
  }
  const good = read.flatMap((one, index) => ('choice' in one ? [{ index, ...one.choice }] : []))
  const { failures } = await recordPastChoices(app, context, business.id, good)
  const refused = read.filter((one) => 'error' in one)
  const failed = failures.map(({ index, fault }) => ({ row: read[index]?.row ?? 0, ...refuse([fault]) }))
  return [...refused, ...failed].map(ofOptIn)
}

/** The data in the answer of `recordBatch`. */
interface Counted {
  queued?: true
  recorded?: number
  deduped?: number
  failures?: { index: number; error: string }[]
  warnings?: string[]
}
