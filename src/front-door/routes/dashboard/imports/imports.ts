/**
 * Imports from the dashboard. The page reads the file and sends some rows at a time; everything else is the same as in
 * `admin import`.
 */
import { type Static, Type } from '@sinclair/typebox'
import { beginImport, countRows, hasBegun } from '../../../../accounts/import-audit.ts'
import { recordPastChoices } from '../../../../contacts/record-past-choices.ts'
import { type PreparedRow, prepareRow } from '../../../../imports/prepare-row.ts'
import { isKeyWarning } from '../../../../imports/key-warnings.ts'
import { hashRow, hashText } from '../../../../imports/row-keys.ts'
import { createTurns } from '../../../../async/take-turns.ts'
import { RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { invalidRequest, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { refuse } from '../../../http/refused-item.ts'
import type { Rejection } from '../../../http/rejection.ts'
import { readEvent } from '../../sdk/read-event.ts'
import { recordBatch } from '../../sdk/track-batch.ts'
import { readChoice } from '../../contacts/subscriptions-batch.ts'
import { closed, count, orNull } from '../../reply-fields.ts'
import {
  BeginSchema,
  CheckSchema,
  HeaderSchema,
  SendSchema,
  checkBegin,
  checkHeader,
  checkRows,
  checkSend,
  readHeader,
  readRows,
  readRules,
} from './import-body.ts'
import { Faults, type RowFault, type RowIssue, describeFaults, rowFault } from './import-faults.ts'
import { MEMBER_BODY_ERRORS } from '../people/session.ts'

const COLUMNS = 'The columns.'
const CHECKED = 'The rows are checked.'
const BEGUN = 'The import has begun.'
const SENT = 'The rows are sent.'

/** Rows shown as examples. */
const SHOWN = 5
async function postColumns(app: AppContext, context: RequestContext): Promise<Reply> {
  const sent = requireBody(checkHeader(await readJson(app, context, BODY_LIMITS.file)))
  const { columns, samples } = await readHeader(sent)
  return { message: COLUMNS, data: { columns, samples: samples.slice(0, SHOWN) } }
}

const leftOut = Type.Integer({ minimum: 0, description: 'Rows without a time, with `withoutTime: skip`.' })

const CheckedData = Type.Object(
  {
    hashes: Type.Array(Type.String(), { description: 'Of each row, by its content.' }),
    keys: Type.Array(orNull(Type.String()), {
      description:
        'Of each row: a hash of its own idempotency key. Null if it has none, or is refused. Of rows with one key only the first is recorded.',
    }),
    leftOut,
    faults: Faults,
    events: Type.Array(Type.Unknown(), { description: 'The first of these rows, as events.' }),
  },
  closed,
)

async function postCheck(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const sent = requireBody(checkRows(await readJson(app, context, BODY_LIMITS.file)))
  const rules = readRules(sent, business.id)
  const data: Static<typeof CheckedData> = { hashes: [], keys: [], leftOut: 0, faults: [], events: [] }
  const faults: RowFault[] = []
  const { rows, sources } = await readRows(sent)
  const counts = new Map<string, number>()
  const turn = createTurns()
  for (const row of rows) {
    await turn()
    const hash = hashRow(row)
    data.hashes.push(hash)
    // As in the file: a row that is equal to one of an earlier part has its fault, too, and is not shown.
    const number = (counts.get(hash) ?? 0) + 1
    counts.set(hash, number)
    const prepared = prepareRow(rules, row, hash, number)
    data.keys.push(
      'event' in prepared && prepared.hasOwnKey ? hashText(String(prepared.event['idempotencyKey'])) : null,
    )
    if ('fault' in prepared && prepared.isLeftOut) {
      data.leftOut += 1
      continue
    }
    const fault =
      'fault' in prepared
        ? rowFault(row.number, prepared.fault)
        : (faultOfEvent(row.number, prepared.event) ?? faultOfChoices(row.number, prepared.choices))
    if (fault !== null) faults.push(fault)
    else if ('event' in prepared && data.events.length < SHOWN) data.events.push(prepared.event)
  }
  data.faults = describeFaults(faults, { sources, firstRow: sent.firstRow, keys: new Map() })
  return { message: CHECKED, data }

  function faultOfChoices(row: number, choices: readonly unknown[]): RowFault | null {
    const read = choices.map((choice) => readChoice(choice, business, context.receivedAt))
    const fault = read.find((one) => 'error' in one)
    return fault ? ofOptIn({ row, ...fault }) : null
  }

  /** Checks an event by the rules of the endpoint itself. */
  function faultOfEvent(row: number, event: Record<string, unknown>): RowFault | null {
    const read = readEvent(event, business, context.receivedAt)
    return 'fact' in read ? null : { row, error: read.message, issues: issuesOf(read) }
  }
}

/**
 * Returns issues that all have a code, which a page needs to show them in its language. If one has none, returns only
 * the code of the whole row.
 */
const issuesOf = ({ code, message, issues }: Rejection): readonly RowIssue[] =>
  issues?.every((issue) => issue.code !== undefined) ? issues : [{ path: '', message, code }]

const ofOptIn = ({ row, error, issues }: RowFault): RowFault => ({
  row,
  error: `opt-in: ${error}`,
  issues: issues.map((issue) => ({ ...issue, path: issue.path === '' ? 'opt-in' : `opt-in: ${issue.path}` })),
})

const BegunData = Type.Object({ importId: Type.Integer({ description: 'To send rows with.' }) }, closed)

async function postImport(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const sent = requireBody(checkBegin(await readJson(app, context, BODY_LIMITS.single)))
  return { message: BEGUN, data: { importId: await beginImport(app.sql, { businessId: business.id, actor, ...sent }) } }
}

const SentData = Type.Object(
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

async function postRows(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
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

const common = { tag: 'Events', key: 'session' } as const

export const importRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'POST',
    path: '/imports/columns',
    permission: 'imports:write',
    handler: postColumns,
    operation: {
      ...common,
      summary: 'Read the names of the columns of a CSV file',
      body: { schema: HeaderSchema },
      replies: {
        200: {
          message: COLUMNS,
          description: 'In their order, and the cells of the first rows.',
          data: Type.Object(
            { columns: Type.Array(Type.String()), samples: Type.Array(Type.Array(Type.String())) },
            closed,
          ),
        },
      },
      errors: [...MEMBER_BODY_ERRORS, 'unavailable'],
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/imports/check',
    permission: 'imports:write',
    handler: postCheck,
    operation: {
      ...common,
      summary: 'Check rows of a file, and record nothing',
      body: { schema: CheckSchema },
      replies: { 200: { message: CHECKED, description: 'What would be refused, and why.', data: CheckedData } },
      errors: [...MEMBER_BODY_ERRORS, 'unavailable'],
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/imports',
    permission: 'imports:write',
    handler: postImport,
    operation: {
      ...common,
      summary: 'Begin an import',
      description: 'Its entry in the audit log counts what becomes of the rows that are sent with its id.',
      body: { schema: BeginSchema },
      replies: { 200: { message: BEGUN, description: 'The id of the import.', data: BegunData } },
      errors: MEMBER_BODY_ERRORS,
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/imports/rows',
    permission: 'imports:write',
    handler: postRows,
    operation: {
      ...common,
      summary: 'Record rows of a file as past events',
      description:
        'The same rows, sent again by anybody or by `admin import`, are recorded once. Past events start no campaign.',
      body: { schema: SendSchema },
      replies: { 200: { message: SENT, description: 'What became of the rows.', data: SentData } },
      errors: [...MEMBER_BODY_ERRORS, 'not_found', 'unavailable', 'outcome_unknown', 'business_inactive'],
    },
  }),
]
