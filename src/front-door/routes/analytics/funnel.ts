/** Funnels: how many contacts get from step to step. */
import { droppedRule } from '../../../analytics/funnel-segment.ts'
import { FUNNEL_ORDERS, type FunnelQuery } from '../../../analytics/funnel-sql.ts'
import { readFunnel, readFunnelContacts } from '../../../analytics/funnel.ts'
import { fault } from '../../../rules/segments/reading/reading.ts'
import { readPosition, toPage } from '../../../segments/page-position.ts'
import type { RequestContext } from '../../app-context.ts'
import { PAGE_QUERY, invalidCursor, readPage } from '../../http/read-page.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { PERIOD_PARAMETERS, chartEndpoint, toIso } from './chart.ts'
import {
  type Parameters,
  readChoice,
  readCondition,
  readJsonText,
  readParameters,
  readPeriod,
  readWhole,
} from './read-parameters.ts'
import { FunnelContactsData, FunnelData } from './schemas.ts'

const MIN_STEPS = 2
const MAX_STEPS = 10
const MAX_WINDOW_SECONDS = 365 * 86_400
const DEFAULT_WINDOW_SECONDS = 30 * 86_400
const FOUND = 'The funnel.'
const LISTED = 'The contacts.'

function read(parameters: Parameters): FunnelQuery | undefined {
  const steps = readSteps(parameters)
  const order = readChoice(parameters, 'order', FUNNEL_ORDERS, 'in_order')
  const isDistinct = new Set(steps.map(({ event }) => event)).size === steps.length
  if (order === 'any' && !isDistinct) fault(parameters, 'steps', 'distinct_events')
  const seconds = { most: MAX_WINDOW_SECONDS, otherwise: DEFAULT_WINDOW_SECONDS }
  const windowMs = readWhole(parameters, 'windowSeconds', seconds) * 1000
  const period = readPeriod(parameters)
  return period && { steps, order, windowMs, period }
}

function readSteps(parameters: Parameters): FunnelQuery['steps'] {
  const raw = readJsonText(parameters, 'steps')
  if (!Array.isArray(raw) || raw.length < MIN_STEPS || raw.length > MAX_STEPS) {
    fault(parameters, 'steps', 'funnel_steps', { min: MIN_STEPS, max: MAX_STEPS })
    return []
  }
  return raw.map((one: unknown, place) => {
    const { event, where } = readCondition(parameters, one ?? 0, `steps[${place}]`)
    if (event === undefined) fault(parameters, `steps[${place}].event`, 'required')
    return { event: event ?? '', where }
  })
}

const parameters = {
  steps: {
    schema: { type: 'string' },
    description:
      'JSON: a list of 2 to 10 objects with `event` and, if you like, `where`: conditions on its properties as in rules of segments.',
    example: '[{"event":"signup"},{"event":"purchase"}]',
    required: true,
  },
  order: {
    schema: { enum: FUNNEL_ORDERS, default: 'in_order' },
    description:
      '`in_order`: other events may come between two steps. `strict`: none may. `any`: the steps in any order; their events must differ.',
  },
  windowSeconds: {
    schema: { type: 'integer', minimum: 1, maximum: MAX_WINDOW_SECONDS, default: DEFAULT_WINDOW_SECONDS },
    description: 'All steps have to follow the first one within this time.',
  },
  ...PERIOD_PARAMETERS,
} as const

const timesOf = 'The time range is that of the first step: the others may come after it. '

const funnelEndpoint = chartEndpoint({
  path: '/funnel',
  message: FOUND,
  async read(_, context, principal, reader) {
    const query = readParameters(context, principal, read)
    const { steps, order, windowMs, period } = query
    const found = await readFunnel(reader, principal.business.id, query)
    return {
      from: toIso(period.from),
      to: toIso(period.to),
      timezone: principal.business.timezone,
      order,
      windowSeconds: windowMs / 1000,
      steps: found.map((step, place) => ({
        event: order === 'any' ? null : (steps[place]?.event ?? null),
        ...step,
        segment: place + 1 < steps.length ? droppedRule(query, place + 1, context.receivedAt) : null,
      })),
    }
  },
  operation: {
    summary: 'Read how many contacts get from step to step',
    description: `${timesOf}Each contact counts once, by the best attempt.`,
    query: parameters,
  },
  reply: {
    description: 'The steps.',
    data: FunnelData,
    example: {
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-03-01T00:00:00.000Z',
      timezone: 'UTC',
      order: 'in_order',
      windowSeconds: DEFAULT_WINDOW_SECONDS,
      steps: [
        {
          event: 'signup',
          contacts: 40,
          conversion: 1,
          stepConversion: 1,
          dropped: 30,
          medianSeconds: null,
          segment: null,
        },
        {
          event: 'purchase',
          contacts: 10,
          conversion: 0.25,
          stepConversion: 0.25,
          dropped: 0,
          medianSeconds: 5400,
          segment: null,
        },
      ],
    },
  },
})

function readList(given: Parameters) {
  const query = read(given)
  const outcome = readChoice(given, 'outcome', ['dropped', 'reached'], 'dropped')
  const last = (query?.steps.length ?? MAX_STEPS) - (outcome === 'dropped' ? 1 : 0)
  const step = readWhole(given, 'step', { most: Math.max(1, last), otherwise: 1 })
  return query && { query, outcome, step }
}

function readBefore(context: RequestContext) {
  const { limit, cursor } = readPage(context)
  const before = cursor === null ? undefined : readPosition(cursor)
  if (before === null) throw invalidCursor()
  return { limit, ...(before && { before }) }
}

const funnelContactsEndpoint = chartEndpoint({
  path: '/funnel/contacts',
  message: LISTED,
  permission: 'contacts:read',
  async read(_, context, principal, reader) {
    const { query, ...selection } = readParameters(context, principal, readList)
    const page = readBefore(context)
    const rows = await readFunnelContacts(reader, principal.business.id, query, { ...selection, ...page })
    const { page: shown, nextCursor } = toPage(rows, page.limit)
    return { contacts: shown.map(({ id, at }) => ({ contactId: id, at: toIso(at) })), nextCursor }
  },
  operation: {
    summary: 'List who dropped out of a funnel, or got so far',
    description: `${timesOf}Contacts are where their best attempt got.`,
    query: {
      ...parameters,
      step: { schema: { type: 'integer', minimum: 1, maximum: MAX_STEPS, default: 1 }, description: 'Of the list.' },
      outcome: {
        schema: { enum: ['dropped', 'reached'], default: 'dropped' },
        description: '`dropped`: who did this step and not the next one. `reached`: who did this step.',
      },
      ...PAGE_QUERY,
    },
  },
  reply: {
    description: 'Newest first.',
    data: FunnelContactsData,
    example: {
      contacts: [{ contactId: '018f6f4e-3b9a-7c21-9d4a-5a1c0f1e2d3b', at: '2026-02-03T09:30:00.000Z' }],
      nextCursor: null,
    },
  },
})

export const funnelEndpoints: readonly BusinessEndpoint[] = [funnelEndpoint, funnelContactsEndpoint]
