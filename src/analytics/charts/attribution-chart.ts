import { ATTRIBUTION_KEYS, ATTRIBUTION_MODELS, readAttribution } from '../attribution.ts'
import { READ_LIMITS } from '../read-rows.ts'
import { addSpend } from '../return-on-spend.ts'
import { type ChartStores, toIso } from './chart.ts'
import { type Parameters, readChoice, readEventName, readPeriod } from './parameters.ts'

/** More memory than other charts: there are many touches, and they are sorted. */
const LIMITS = { ...READ_LIMITS, bytes: 1024 ** 3 }

export function attributionChart(parameters: Parameters) {
  const model = readChoice(parameters, 'model', ATTRIBUTION_MODELS, 'last')
  const by = readChoice(parameters, 'by', ATTRIBUTION_KEYS, 'touch')
  const sent = parameters.query.get('event')
  const event = sent === null ? null : readEventName(parameters, sent, 'event')
  const period = readPeriod(parameters)
  if (period === undefined) return undefined
  const { id: businessId, timezone } = parameters.business
  const query = { businessId, model, by, ...(event !== null && { event }), ...period }
  return async ({ sql, openReader }: ChartStores) => {
    const found = await addSpend(sql, query, timezone, await readAttribution(openReader(LIMITS), query))
    return { model, by, event, from: toIso(period.from), to: toIso(period.to), ...found }
  }
}
