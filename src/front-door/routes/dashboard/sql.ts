/** The SQL page: statements on the rows of only this business, the views that can be read, and the saved statements. */
import { type Static, Type } from '@sinclair/typebox'
import { type Issue, RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'
import { STATEMENT_LIMITS } from '../../../rules/statement-limits.ts'
import { readSchema } from '../../../timeline/reading/read-schema.ts'
import {
  MAX_QUERIES,
  MAX_QUERY_NAME,
  type SaveOutcome,
  type SavedQuery,
  createQuery,
  deleteQuery,
  listQueries,
  updateQuery,
} from '../../../analytics/sql-page/saved-queries.ts'
import type { StatementFault } from '../../../analytics/sql-page/statement-error.ts'
import { runAs } from '../../../analytics/sql-page/statement-runner.ts'
import { type DashboardRoute, businessRoute } from '../../access/authenticate-session.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody, uncleanIssues } from '../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../http/read-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { text } from '../body-fields.ts'
import { closed, count, orNull, uuid } from '../reply-fields.ts'
import { clickHouseUnavailable } from '../../health/clickhouse-unavailable.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from './people/session.ts'

const { seconds, memoryBytes, rows, characters, parameters: maxParameters, parameterCharacters } = STATEMENT_LIMITS

const statement = text(1, characters, 'One SELECT on the public views of ClickHouse.')
const parameters = Type.Optional(
  Type.Record(Type.String(), Type.String({ maxLength: parameterCharacters }), {
    maxProperties: maxParameters,
    description:
      'Values of `{name: Type}` in the statement, as text, by name. `business` always is the id of the business.',
  }),
)

const RunSchema = Type.Object({ statement, parameters })
const checkRun = compileCheck(RunSchema)

async function postStatement(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const body = requireBody(checkRun(await readJson(app, context, BODY_LIMITS.single)))
  requireReadable(body)
  const { signal } = context.request
  const request = { businessId: business.id, text: body.statement, parameters: body.parameters ?? {} }
  const { outcome, ms } = await runAs(app, actor, request, signal).catch((cause: unknown) => {
    if (signal.aborted) throw new RequestError('unavailable')
    throw cause
  })
  if (outcome === 'no_answer') throw clickHouseUnavailable(app, { headers: { 'Retry-After': '5' } })
  if (outcome === 'not_set_up') throw new RequestError('locked', { reason: faultOf('', 'sql_not_set_up') })
  if ('fault' in outcome) throw toRequestError(app, outcome.fault)
  const data: Static<typeof ResultData> = { ...outcome.result, ms }
  return { message: RESULT, data }
}

/** `path` names the limit, or the statement. */
function toRequestError(app: AppContext, fault: StatementFault): RequestError {
  if (fault.kind === 'slow' && app.storeWatch.lateSince('clickhouse') !== null) return clickHouseUnavailable(app)
  if (fault.kind === 'busy') return new RequestError('rate_limited', { headers: { 'Retry-After': '1' } })
  if (fault.kind === 'stopped') return new RequestError('unavailable')
  if (fault.kind === 'refused') return invalidRequest([{ path: 'statement', message: fault.message }])
  return invalidRequest([
    fault.kind === 'slow'
      ? { ...faultOf('', 'slow_statement', { max: seconds }), path: 'seconds' }
      : { ...faultOf('', 'large_statement', { max: memoryBytes / 1024 ** 2 }), path: 'memory' },
  ])
}

interface Written {
  name?: string
  statement: string
  parameters?: Record<string, string> | undefined
}

/** Throws RequestError `invalid_request` for text that no store accepts, and for names that no parameter can have. */
function requireReadable({ name, statement: sql, parameters: values = {} }: Written): void {
  const entries = Object.entries(values).map(([key, value]) => [`parameters.${key}`, value] as const)
  const issues: Issue[] = uncleanIssues({
    ...(name !== undefined && { name }),
    statement: sql,
    ...Object.fromEntries(entries),
  })
  for (const key of Object.keys(values))
    if (!/^[A-Za-z_]\w{0,63}$/.test(key)) issues.push(faultOf('parameters', 'query_names'))
  if (issues.length > 0) throw invalidRequest(issues.slice(0, 20))
}

async function getSchema(app: AppContext): Promise<Reply> {
  const views = await readSchema(app.clickhouse)
  if (views === null) throw clickHouseUnavailable(app, { headers: { 'Retry-After': '5' } })
  return { message: SCHEMA, data: { views, limits: { seconds, memoryBytes, rows } } }
}

const getQueries = async ({ sql }: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> => ({
  message: QUERIES,
  data: { queries: await listQueries(sql, business.id) },
})

const QuerySchema = Type.Object({
  name: Type.String({ minLength: 1, maxLength: MAX_QUERY_NAME }),
  statement,
  parameters,
})
const checkQuery = compileCheck(QuerySchema)

async function readQuery(app: AppContext, context: RequestContext): Promise<Omit<SavedQuery, 'id'>> {
  const query = requireBody(checkQuery(await readJson(app, context, BODY_LIMITS.single)))
  requireReadable(query)
  return { ...query, parameters: query.parameters ?? {} }
}

async function postQuery(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const query = await readQuery(app, context)
  return saved(await createQuery(app.sql, { businessId: business.id, actor }, query))
}

async function putQuery(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const id = requireQueryId(context)
  const query = await readQuery(app, context)
  return saved(await updateQuery(app.sql, { businessId: business.id, actor }, { id, ...query }))
}

async function removeQuery(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  if (!(await deleteQuery(app.sql, { businessId: business.id, actor }, requireQueryId(context)))) throw queryNotFound()
  return { message: DELETED, data: {} }
}

function saved(outcome: SavedQuery | SaveOutcome): Reply {
  if (outcome === 'not_found') throw queryNotFound()
  if (outcome === 'limit_reached')
    throw new RequestError('limit_reached', { reason: faultOf('', 'queries_full', { max: MAX_QUERIES }) })
  if (outcome === 'name_taken') throw invalidRequest([faultOf('name', 'name_taken')])
  return { message: SAVED, data: { query: outcome } }
}

function requireQueryId(context: RequestContext): string {
  const id = readId(context.params['queryId'])
  if (id === null) throw queryNotFound()
  return id
}

const queryNotFound = () => new RequestError('not_found', { reason: faultOf('', 'no_query') })

const RESULT = 'The result.'
const SCHEMA = 'What can be read.'
const QUERIES = 'The saved queries.'
const SAVED = 'The query is saved.'
const DELETED = 'The query is deleted.'

const described = { name: Type.String(), description: Type.String() }
const ResultData = Type.Object(
  {
    columns: Type.Array(Type.Object({ name: Type.String(), type: Type.String() }, closed)),
    rows: Type.Array(Type.Array(orNull(Type.String())), {
      description: 'Values as ClickHouse writes them; null for NULL.',
    }),
    isCut: Type.Boolean({ description: 'There are more rows.' }),
    ms: count,
  },
  closed,
)
const SchemaData = Type.Object(
  {
    views: Type.Array(
      Type.Object(
        { ...described, columns: Type.Array(Type.Object({ ...described, type: Type.String() }, closed)) },
        closed,
      ),
    ),
    limits: Type.Object({ seconds: count, memoryBytes: count, rows: count }, closed),
  },
  closed,
)
const Query = Type.Object(
  {
    id: uuid,
    name: Type.String(),
    statement: Type.String(),
    parameters: Type.Record(Type.String(), Type.String()),
  },
  closed,
)
const QueryData = Type.Object({ query: Query }, closed)

const common = { tag: 'Analytics', key: 'session' } as const
const queryReply = { 200: { message: SAVED, description: 'The query.', data: QueryData } }

export const sqlRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'POST',
    path: '/sql',
    permission: 'sql:run',
    cost: 'statement',
    isSlow: true,
    handler: postStatement,
    operation: {
      ...common,
      summary: 'Run a statement on the rows of the business',
      description:
        `ClickHouse stops it after ${seconds} seconds, and when the connection is closed. What ClickHouse says against the ` +
        'statement is an issue of `statement`; an issue of `seconds` or `memory` names the limit that it reached. `unavailable`: the ' +
        'connection to ClickHouse broke. Each run is recorded ' +
        'in the audit log, without the statement.',
      body: { schema: RunSchema },
      replies: {
        200: { message: RESULT, description: `At most ${rows.toLocaleString('en')} rows and 8 MiB.`, data: ResultData },
      },
      errors: [...MEMBER_BODY_ERRORS, 'locked'],
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/sql/schema',
    permission: 'sql:run',
    handler: getSchema,
    operation: {
      ...common,
      summary: 'List the views and their columns, and the limits of a statement',
      replies: { 200: { message: SCHEMA, description: 'Views by name.', data: SchemaData } },
      errors: MEMBER_ERRORS,
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/sql/queries',
    permission: 'sql:run',
    handler: getQueries,
    operation: {
      ...common,
      summary: 'List the saved queries',
      replies: {
        200: {
          message: QUERIES,
          description: `By name; at most ${MAX_QUERIES}.`,
          data: Type.Object({ queries: Type.Array(Query) }, closed),
        },
      },
      errors: MEMBER_ERRORS,
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/sql/queries',
    permission: 'sql:run',
    handler: postQuery,
    operation: {
      ...common,
      summary: 'Save a query under a name',
      body: { schema: QuerySchema },
      replies: queryReply,
      errors: [...MEMBER_BODY_ERRORS, 'limit_reached'],
    },
  }),
  businessRoute({
    method: 'PUT',
    path: '/sql/queries/:queryId',
    permission: 'sql:run',
    handler: putQuery,
    operation: {
      ...common,
      summary: 'Change a saved query',
      body: { schema: QuerySchema },
      replies: queryReply,
      errors: [...MEMBER_BODY_ERRORS, 'not_found'],
    },
  }),
  businessRoute({
    method: 'DELETE',
    path: '/sql/queries/:queryId',
    permission: 'sql:run',
    handler: removeQuery,
    operation: {
      ...common,
      summary: 'Delete a saved query',
      replies: { 200: { message: DELETED, description: 'Done.', data: Type.Object({}, closed) } },
      errors: [...MEMBER_ERRORS, 'not_found'],
    },
  }),
]
