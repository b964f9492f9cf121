/** Detects figures that keep growing. Does no I/O. */
import { type Figures, MEMORY } from './soak/read-figures.ts'

/** With fewer readings there is no trend: processes need time to warm up, and are restarted now and then. */
const FEWEST = 9

export interface Trend {
  name: string
  /** Medians of the middle third and of the last third. */
  before: number
  after: number
  most: number
  isGrowing: boolean
}

/** Ignores the first third, which is for warming up. */
export function findTrends(readings: Figures[]): Trend[] {
  const names = [...new Set(readings.flatMap((figures) => Object.keys(figures)))]
  const third = Math.floor(readings.length / 3)
  return names.map((name) => {
    const values = readings.map((figures) => figures[name] ?? 0)
    const before = medianOf(values.slice(third, Math.max(1, 2 * third)))
    const after = medianOf(values.slice(2 * third))
    const isGrowing = readings.length >= FEWEST && after > before * 1.25 + marginOf(name)
    return { name, before, after, most: Math.max(...values), isGrowing }
  })
}

/** Growth that garbage, caches and pools may cause before they are full. */
const marginOf = (name: string): number => (name.endsWith(MEMORY) ? 64 : 16)

const medianOf = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
