/** Funnels: how many contacts get from step to step. */
import { toIso } from '../../../analytics/charts/chart.ts'
import {
  DEFAULT_WINDOW_SECONDS,
  MAX_STEPS,
  MAX_WINDOW_SECONDS,
  funnelChart,
  readFunnelList,
} from '../../../analytics/charts/funnel-charts.ts'
import { FUNNEL_ORDERS } from '../../../analytics/funnel-sql.ts'
import { readFunnelContacts } from '../../../analytics/funnel.ts'
import { readPosition, toPage } from '../../../segments/page-position.ts'
import type { RequestContext } from '../../app-context.ts'
import { PAGE_QUERY, invalidCursor, readPage } from '../../http/read-page.ts'
import { PERIOD_PARAMETERS, chartEndpoint } from './chart.ts'
import { FunnelContactsData, FunnelData } from './schemas.ts'

const FOUND = 'The funnel.'
const LISTED = 'The contacts.'

const PARAMETERS = {
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

export const funnelEndpoint = chartEndpoint({
  path: '/funnel',
  message: FOUND,
  chart: funnelChart,
  operation: {
    summary: 'Read how many contacts get from step to step',
    description: `${timesOf}Each contact counts once, by the best attempt.`,
    query: PARAMETERS,
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

function readBefore(context: RequestContext) {
  const { limit, cursor } = readPage(context)
  const before = cursor === null ? undefined : readPosition(cursor)
  if (before === null) throw invalidCursor()
  return { limit, ...(before && { before }) }
}

export const funnelContactsEndpoint = chartEndpoint({
  path: '/funnel/contacts',
  message: LISTED,
  permission: 'contacts:read',
  chart(parameters, context) {
    const list = readFunnelList(parameters)
    if (list === undefined) return undefined
    const { query, ...selection } = list
    return async ({ openReader }) => {
      const page = readBefore(context)
      const { id } = parameters.business
      const rows = await readFunnelContacts(openReader(), id, query, { ...selection, ...page })
      const { page: shown, nextCursor } = toPage(rows, page.limit)
      return { contacts: shown.map(({ id: contactId, at }) => ({ contactId, at: toIso(at) })), nextCursor }
    }
  },
  operation: {
    summary: 'List who dropped out of a funnel, or got so far',
    description: `${timesOf}Contacts are where their best attempt got.`,
    query: {
      ...PARAMETERS,
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
