/** Backtests: what a campaign would have done with events of the past. */
import type { Static } from '@sinclair/typebox'
import { type Backtest, KEEP_MS, MAX_RUNNING } from '../../../campaigns/backtest/backtest-store.ts'
import { MAX_ENTRANTS } from '../../../campaigns/backtest/find-entrants.ts'
import { loadMessaging } from '../../../campaigns/messaging.ts'
import { type Issue, RequestError } from '../../../errors.ts'
import { withMessaging } from '../../../rules/campaigns/messaging.ts'
import { readIso } from '../../../rules/events/read-iso.ts'
import { trimText } from '../../../rules/events/text.ts'
import { faultOf } from '../../../rules/faults.ts'
import { showCount } from '../../../rules/limits.ts'
import { loadDefinitions } from '../../../segments/load-definitions.ts'
import type { Sql } from '../../../stores/postgres.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { receiveBody } from '../../http/receive-body.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { BACKTEST_EXAMPLE, BacktestData, BacktestSchema, StartedBacktestData } from './backtest-schemas.ts'
import { requireCampaignId } from './read-body.ts'
import { requireCampaign } from './reading.ts'
import { refuseBranches } from './simulate.ts'

const STARTED = 'The backtest is running.'
const READ = 'The backtest.'
const CANCELLED = 'The backtest is cancelled.'
const MAX_SPAN_DAYS = 366
const DAY_MS = 86_400_000

const BUSY = {
  campaign: faultOf('', 'backtest_of_campaign'),
  business: faultOf('', 'backtests_of_business', { max: MAX_RUNNING }),
}

const check = compileCheck(BacktestSchema)

async function postBacktest(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business } = principal
  const found = await requireCampaign(app, context, business.id)
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { from, to } = readTime(requireBody(check(body)), app.now())
  const definitions = await loadDefinitions(app.sql, business.id)
  refuseBranches(found, definitions)
  const campaign = withMessaging(found, await loadMessaging(app.sql, business.id))
  const started = await app.backtests.start({ business, campaign, definitions, from, to, now: app.now() })
  if (typeof started === 'string') throw new RequestError('limit_reached', { reason: BUSY[started] })
  return { message: STARTED, data: { backtestId: started.backtestId } }
}

/** Returns epoch ms. Throws RequestError `invalid_request`. */
function readTime(sent: Static<typeof BacktestSchema>, now: number): { from: number; to: number } {
  const issues: Issue[] = []
  const read = (path: 'from' | 'to'): number => {
    const value = sent[path] ?? now
    const at = typeof value === 'string' ? readIso(trimText(value)) : Math.floor(value)
    if (at !== undefined && at >= 0 && at <= now) return at
    const message = `${path} must be an ISO 8601 date or date-time, or a number of epoch milliseconds, from 1970 until now`
    issues.push({ path, message })
    return 0
  }
  const [from, to] = [read('from'), read('to')]
  if (issues.length > 0) throw invalidRequest(issues)
  if (to <= from) issues.push(faultOf('to', 'later_than_from'))
  if (to > from + MAX_SPAN_DAYS * DAY_MS) issues.push(faultOf('to', 'days_after_from', { max: MAX_SPAN_DAYS }))
  if (issues.length > 0) throw invalidRequest(issues)
  return { from, to }
}

async function getBacktest(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const backtest = await app.backtests.read(requireKey(context, business.id))
  return { message: READ, data: { backtest: await show(app.sql, business.id, backtest) } }
}

async function deleteBacktest(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const backtest = await app.backtests.cancel(requireKey(context, business.id))
  return { message: CANCELLED, data: { backtest: await show(app.sql, business.id, backtest) } }
}

/** Throws RequestError `not_found`. */
function requireKey(context: RequestContext, businessId: string) {
  const backtestId = readId(context.params['backtestId'] ?? '')
  if (backtestId === null) throw new RequestError('not_found')
  return { businessId, campaignId: requireCampaignId(context), backtestId }
}

/** Leaves out the samples of people who have been erased in the meantime. Throws RequestError `not_found`. */
async function show(sql: Sql, businessId: string, backtest: Backtest | null): Promise<Backtest> {
  if (backtest === null) throw new RequestError('not_found')
  const { result } = backtest
  if (result === null || result.samples.length === 0) return backtest
  const ids = `{${result.samples.map(({ contactId }) => contactId).join(',')}}`
  const rows = await sql<{ id: string; survivor: string }[]>`
    select id, coalesce(merged_into, id) as survivor from contacts
    where business_id = ${businessId} and id = any (${ids}::text::uuid[])`
  const survivors = new Map(rows.map(({ id, survivor }) => [id, survivor]))
  const samples = result.samples.flatMap((sample) => {
    const contactId = survivors.get(sample.contactId)
    return contactId === undefined ? [] : [{ ...sample, contactId }]
  })
  return { ...backtest, result: { ...result, samples } }
}

const tag = 'Campaigns'
const path = '/campaigns/:campaignId/backtest/:backtestId'

export const backtestEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'POST',
    path: '/campaigns/:campaignId/backtest',
    permission: 'contacts:read',
    handler: postBacktest,
    operation: {
      summary: 'Try a campaign against what really happened',
      description:
        'What the present version, also of a draft, would have done if it had been published at `from` and had let nobody in from `to` ' +
        'on, by the rules that really enrol and move, until now. Nothing is stored or sent. It runs in the background: read it with the ' +
        `\`backtestId\`. One of a campaign and ${MAX_RUNNING} of a business run at a time, each with at most ` +
        `${showCount(MAX_ENTRANTS)} contacts.`,
      tag,
      body: { schema: BacktestSchema, example: { from: '2026-02-01T00:00:00Z', to: '2026-03-01T00:00:00Z' } },
      replies: {
        200: {
          message: STARTED,
          description: 'It is running.',
          data: StartedBacktestData,
          example: { backtestId: BACKTEST_EXAMPLE.backtestId },
        },
      },
    },
    errors: ['not_found', 'limit_reached'],
  },
  {
    method: 'GET',
    path,
    permission: 'contacts:read',
    handler: getBacktest,
    operation: {
      summary: 'Read a backtest',
      description: `How far it is, and its result. It is kept for ${KEEP_MS / 60_000} minutes.`,
      tag,
      replies: {
        200: {
          message: READ,
          description: 'The backtest.',
          data: BacktestData,
          example: { backtest: BACKTEST_EXAMPLE },
        },
      },
    },
    errors: ['not_found'],
  },
  {
    method: 'DELETE',
    path,
    permission: 'contacts:read',
    handler: deleteBacktest,
    operation: {
      summary: 'Cancel a backtest',
      description: 'One that has ended stays as it is.',
      tag,
      replies: {
        200: {
          message: CANCELLED,
          description: 'The backtest.',
          data: BacktestData,
          example: { backtest: { ...BACKTEST_EXAMPLE, status: 'cancelled', result: null } },
        },
      },
    },
    errors: ['not_found'],
  },
]
