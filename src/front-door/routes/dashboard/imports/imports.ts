/**
 * Imports from the dashboard. The page reads the file and sends some rows at a time; everything else is the same as in
 * `admin import`.
 */
import { Type } from '@sinclair/typebox'
import { beginImport } from '../../../../accounts/import-audit.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { closed } from '../../reply-fields.ts'
import { MEMBER_BODY_ERRORS } from '../people/session.ts'
import { CHECKED, COLUMNS, CheckedData, postCheck, postColumns } from './check-rows.ts'
import { BeginSchema, CheckSchema, HeaderSchema, SendSchema, checkBegin } from './import-body.ts'
import { SENT, SentData, postRows } from './send-rows.ts'

const BEGUN = 'The import has begun.'

const BegunData = Type.Object({ importId: Type.Integer({ description: 'To send rows with.' }) }, closed)

async function postImport(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const sent = requireBody(checkBegin(await readJson(app, context, BODY_LIMITS.single)))
  return { message: BEGUN, data: { importId: await beginImport(app.sql, { businessId: business.id, actor, ...sent }) } }
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
