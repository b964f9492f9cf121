/** Reads the head of a file, and checks its rows by the rules of the endpoint that takes them. Records nothing. */
import { type Static, Type } from '@sinclair/typebox'
import { createTurns } from '../../../../async/take-turns.ts'
import { prepareRow } from '../../../../imports/prepare-row.ts'
import { hashRow, hashText } from '../../../../imports/row-keys.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { readChoice } from '../../contacts/subscriptions-batch.ts'
import { closed, orNull } from '../../reply-fields.ts'
import { readEvent } from '../../sdk/read-event.ts'
import { checkHeader, checkRows, readHeader, readRows, readRules } from './import-body.ts'
import { Faults, type RowFault, describeFaults, issuesOf, leftOut, ofOptIn, rowFault } from './import-faults.ts'

export const COLUMNS = 'The columns.'
export const CHECKED = 'The rows are checked.'

/** Rows shown as examples. */
const SHOWN = 5

export async function postColumns(app: AppContext, context: RequestContext): Promise<Reply> {
  const sent = requireBody(checkHeader(await readJson(app, context, BODY_LIMITS.file)))
  const { columns, samples } = await readHeader(sent)
  return { message: COLUMNS, data: { columns, samples: samples.slice(0, SHOWN) } }
}

export const CheckedData = Type.Object(
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

export async function postCheck(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
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
