/** Web traffic, as captured by browsers. */
import { SOURCE_KEYS, readLiveVisitors, readPages, readSources, readTraffic } from '../web.ts'
import { type ChartStores, showBuckets, toIso } from './chart.ts'
import { type Parameters, readChoice, readComparedBuckets, readPeriod, readWhole } from './parameters.ts'

export const MAX_TOP = 100
export const readTop = (parameters: Parameters) => readWhole(parameters, 'top', { most: MAX_TOP, otherwise: 20 })

export function trafficChart(parameters: Parameters) {
  const compared = readComparedBuckets(parameters)
  if (compared === undefined) return undefined
  const { calendar, buckets, earlier } = compared
  const { now, business } = parameters
  return async ({ openReader }: ChartStores) => {
    const read = openReader()
    const found = await readTraffic(read, business.id, buckets)
    const before = earlier && (await readTraffic(read, business.id, earlier))
    return {
      ...showBuckets(buckets),
      ...calendar,
      live: await readLiveVisitors(read, business.id, now),
      ...found,
      before: before && withoutPoints(before),
    }
  }
}

function withoutPoints<Figures extends { points: unknown }>({ points: _, ...figuresOf }: Figures) {
  return figuresOf
}

export function pagesChart(parameters: Parameters) {
  const top = readTop(parameters)
  const period = readPeriod(parameters)
  if (period === undefined) return undefined
  const { id, timezone } = parameters.business
  return async ({ openReader }: ChartStores) => {
    const pages = await readPages(openReader(), id, period, top)
    return { from: toIso(period.from), to: toIso(period.to), timezone, pages }
  }
}

export function sourcesChart(parameters: Parameters) {
  const by = readChoice(parameters, 'by', SOURCE_KEYS, 'source')
  const top = readTop(parameters)
  const period = readPeriod(parameters)
  if (period === undefined) return undefined
  const { id, timezone } = parameters.business
  return async ({ openReader }: ChartStores) => {
    const sources = await readSources(openReader(), id, { ...period, by, top })
    return { from: toIso(period.from), to: toIso(period.to), timezone, by, sources }
  }
}

const LIVE_LIMITS = { ms: 2000, bytes: 128 * 1024 ** 2 }

/** The visitors of this moment. */
export const liveChart =
  ({ now, business }: Parameters) =>
  async ({ openReader }: ChartStores) => ({
    live: await readLiveVisitors(openReader(LIVE_LIMITS), business.id, now),
  })
