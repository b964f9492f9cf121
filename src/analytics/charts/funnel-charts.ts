/** Funnels: how many contacts get from step to step. */
import { fault } from '../../rules/segments/reading/reading.ts'
import { droppedRule } from '../funnel-segment.ts'
import { FUNNEL_ORDERS, type FunnelQuery } from '../funnel-sql.ts'
import { readFunnel } from '../funnel.ts'
import { type ChartStores, toIso } from './chart.ts'
import { type Parameters, readChoice, readCondition, readJsonText, readPeriod, readWhole } from './parameters.ts'

const MIN_STEPS = 2
export const MAX_STEPS = 10
export const MAX_WINDOW_SECONDS = 365 * 86_400
export const DEFAULT_WINDOW_SECONDS = 30 * 86_400

function readFunnelQuery(parameters: Parameters): FunnelQuery | undefined {
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

export function funnelChart(parameters: Parameters) {
  const query = readFunnelQuery(parameters)
  if (query === undefined) return undefined
  const { steps, order, windowMs, period } = query
  const { now, business } = parameters
  return async ({ openReader }: ChartStores) => {
    const found = await readFunnel(openReader(), business.id, query)
    return {
      from: toIso(period.from),
      to: toIso(period.to),
      timezone: business.timezone,
      order,
      windowSeconds: windowMs / 1000,
      steps: found.map((step, place) => ({
        event: order === 'any' ? null : (steps[place]?.event ?? null),
        ...step,
        segment: place + 1 < steps.length ? droppedRule(query, place + 1, now) : null,
      })),
    }
  }
}

/** Reads which contacts of a funnel to list. */
export function readFunnelList(parameters: Parameters) {
  const query = readFunnelQuery(parameters)
  const outcome = readChoice(parameters, 'outcome', ['dropped', 'reached'], 'dropped')
  const last = (query?.steps.length ?? MAX_STEPS) - (outcome === 'dropped' ? 1 : 0)
  const step = readWhole(parameters, 'step', { most: Math.max(1, last), otherwise: 1 })
  return query && { query, outcome, step }
}
