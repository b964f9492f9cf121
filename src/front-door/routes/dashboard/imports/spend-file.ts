/** Spend from a CSV file. The page sends the whole file, first to check it and then to save it. */
import { type Static, Type } from '@sinclair/typebox'
import { MAX_FILE_ROWS, MAX_REFUSED, readSpendFile } from '../../../../analytics/spend-file.ts'
import { MAX_SOURCE, SPEND_CHANNELS, SPEND_FIELDS } from '../../../../analytics/spend-row.ts'
import { saveSpend } from '../../../../analytics/spend.ts'
import { ImportError } from '../../../../imports/import-error.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { UNTRIMMED, compileCheck, invalidRequest, requireBody, uncleanIssues } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { closed, count, issueList, oneOf, orNull } from '../../reply-fields.ts'
import { tooManyRows } from '../../spend/manage.ts'
import { MEMBER_BODY_ERRORS } from '../people/session.ts'

const READ = 'The file is read.'
/** The page rejects larger files. */
const MAX_TEXT = 4 * 1024 * 1024
/** Rows shown as examples. */
const SHOWN = 5

const FileSchema = Type.Object({
  text: Type.String({
    maxLength: MAX_TEXT,
    [UNTRIMMED]: true,
    description: `The file: ${MAX_FILE_ROWS.toLocaleString('en')} rows at most.`,
  }),
  channel: Type.Optional(oneOf(SPEND_CHANNELS)),
  source: Type.Optional(Type.String({ maxLength: MAX_SOURCE })),
  currency: Type.Optional(
    Type.String({ maxLength: 8, description: 'As channel and source: of rows that do not say it.' }),
  ),
  save: Type.Boolean({ description: 'False: only check it.' }),
})
const checkFile = compileCheck(FileSchema)

const Row = Type.Object(
  {
    day: Type.String(),
    channel: Type.String(),
    source: Type.String(),
    campaign: Type.String(),
    currency: Type.String(),
    amount: Type.String(),
  },
  closed,
)

const FileData = Type.Object(
  {
    columns: Type.Array(Type.Object({ field: oneOf(SPEND_FIELDS), column: Type.String() }, closed), {
      description: 'What the columns hold that have a name of a field.',
    }),
    read: Type.Integer({ minimum: 0, description: 'Rows without a fault.' }),
    rows: Type.Integer({
      minimum: 0,
      description: 'With those of one day, channel, source, campaign and currency added up.',
    }),
    examples: Type.Array(Row, { maxItems: SHOWN }),
    refused: Type.Array(Type.Object({ line: count, error: Type.String(), issues: issueList }, closed), {
      maxItems: MAX_REFUSED,
    }),
    refusedCount: count,
    saved: orNull(Type.Object({ added: count, changed: count }, closed)),
  },
  closed,
)

async function postFile(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const body = requireBody(checkFile(await readJson(app, context, BODY_LIMITS.file)))
  const { text, save, channel, source, currency } = body
  const issues = uncleanIssues({ text, source, currency })
  if (issues.length > 0) throw invalidRequest(issues)
  const defaults = { ...(channel && { channel }), ...(source && { source }), ...(currency && { currency }) }
  const { columns, rows, read, refused, refusedCount } = await readFile(() =>
    readSpendFile(text, defaults, business.currency),
  )
  const saved = save && rows.length > 0 ? await saveSpend(app.sql, { businessId: business.id, actor }, rows) : null
  if (saved === 'limit_reached') throw tooManyRows()
  const data: Static<typeof FileData> = {
    columns: SPEND_FIELDS.flatMap((field) => {
      const column = columns[field]
      return column === undefined ? [] : [{ field, column }]
    }),
    read,
    rows: rows.length,
    examples: rows.slice(0, SHOWN),
    refused,
    refusedCount,
    saved,
  }
  return { message: READ, data }
}

async function readFile<File>(read: () => Promise<File>): Promise<File> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof ImportError)) throw error
    throw invalidRequest([{ ...error.fault, path: 'text', message: error.message }])
  }
}

export const spendFileRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'POST',
    path: '/analytics/spend/file',
    permission: 'audience:write',
    cost: 'costly',
    handler: postFile,
    operation: {
      tag: 'Analytics',
      key: 'session',
      summary: 'Read spend from a CSV file, and save it',
      description:
        'The columns are known by their names: day or date; channel; source; campaign; amount, spend or cost; currency. Refused rows ' +
        'are left out. The same file again counts once.',
      body: { schema: FileSchema },
      replies: { 200: { message: READ, description: 'What was read, and why rows were refused.', data: FileData } },
      errors: [...MEMBER_BODY_ERRORS, 'limit_reached'],
    },
  }),
]
