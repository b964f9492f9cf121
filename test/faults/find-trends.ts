/** Whether a figure keeps growing. Pure. */
import { type Figures, MEMORY } from './soak/read-figures.ts'

/** Fewer readings show no trend: a process is warm only after a while, and is started anew now and then. */
const FEWEST = 9

export interface Trend {
  name: string
  /** Medians of the second and of the last third. */
  before: number
  after: number
  most: number
  isGrowing: boolean
}

/** The first third is for warming up. */
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

/** What garbage, caches and pools that are not full yet may add. */
const marginOf = (name: string): number => (name.endsWith(MEMORY) ? 64 : 16)

const medianOf = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
