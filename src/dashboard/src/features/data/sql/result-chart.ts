/** Converts a result to lines over time, if it has a time column and a number column. */
interface Tabular {
  columns: { name: string; type: string }[]
  rows: (string | null)[][]
}

export interface ResultChart {
  /** Epoch seconds at which a clock in UTC shows the texts of the result, ascending. */
  times: number[]
  /** The same times in ISO 8601, if the column has a time of day in UTC. */
  starts?: string[]
  series: { label: string; values: (number | null)[] }[]
  hasClock: boolean
}

const NUMBER = /^(?:Nullable\(|LowCardinality\()*(?:U?Int|Float|Decimal)/
const TEXT = /^(?:Nullable\(|LowCardinality\()*(?:String|Enum|FixedString)/
const TIME = /^(?:Nullable\(|LowCardinality\()*Date/
const MAX_SERIES = 4

export const isNumber = (type: string): boolean => NUMBER.test(type)

/**
 * Returns null when the result cannot be drawn. If there is a text column and one number column, each of the most
 * frequent texts is a line.
 */
export function chartOf({ columns, rows }: Tabular): ResultChart | null {
  const at = columns.findIndex(({ type }) => TIME.test(type))
  const numbers = columns.flatMap(({ type }, index) => (NUMBER.test(type) ? [index] : []))
  const text = columns.findIndex(({ type }) => TEXT.test(type))
  const [first] = numbers
  if (at < 0 || first === undefined || rows.length < 2) return null
  const cells = rows.map((row) => ({ time: timeOf(row[at] ?? null), row })).filter(({ time }) => Number.isFinite(time))
  const times = [...new Set(cells.map(({ time }) => time))].toSorted((a, b) => a - b)
  const places = new Map(times.map((time, index) => [time, index]))
  const lines = new Map<string, (number | null)[]>()
  const set = (label: string, time: number, value: string | null | undefined) => {
    const values = lines.get(label) ?? times.map(() => null)
    values[places.get(time) ?? 0] = value == null ? null : Number(value)
    lines.set(label, values)
  }
  for (const { time, row } of cells) {
    if (text >= 0) set(row[text] ?? '', time, row[first])
    else for (const index of numbers) set(columns[index]?.name ?? '', time, row[index])
  }
  const series = Array.from(lines, ([label, values]) => ({ label, values }))
  const type = columns[at]?.type ?? ''
  const hasClock = type.includes('DateTime')
  return {
    times,
    // In another zone, the text is local time of that zone.
    ...(hasClock && type.includes("'UTC'") && { starts: times.map((time) => new Date(time * 1000).toISOString()) }),
    series: series.toSorted((a, b) => sizeOf(b.values) - sizeOf(a.values)).slice(0, MAX_SERIES),
    hasClock,
  }
}

const sizeOf = (values: (number | null)[]): number => values.reduce<number>((sum, one) => sum + Math.abs(one ?? 0), 0)

/**
 * Returns epoch seconds. A time is UTC. A day becomes noon in the reader's zone, so that the chart shows the same day
 * in every zone.
 */
function timeOf(text: string | null): number {
  if (text === null) return Number.NaN
  return Date.parse(text.length === 10 ? text : `${text.replace(' ', 'T')}Z`) / 1000
}
