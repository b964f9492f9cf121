/** Turns the series of a chart into what it draws, in drawing order. */

interface Series {
  label: string
  values: readonly (number | null)[]
  isBelow?: boolean
}

export interface Drawn {
  label: string
  values: readonly (number | null)[]
  /** Index of the series. */
  place: number
}

export const drawEach = (series: readonly Series[]): Drawn[] =>
  series.map(({ label, values }, place) => ({ label, values, place }))

/**
 * Stacks the series: each begins where the previous one ends. Series below the axis form a separate stack. The series
 * that reaches farthest is drawn first, and the others over it. A gap counts as 0.
 */
export function drawStack(series: readonly Series[]): Drawn[] {
  const ends = { above: [] as number[], below: [] as number[] }
  return series
    .map(({ label, values, isBelow = false }, place) => {
      const side = isBelow ? 'below' : 'above'
      const added = values.map((value, at) => (ends[side][at] ?? 0) + (isBelow ? -1 : 1) * (value ?? 0))
      ends[side] = added
      return { label, values: added, place }
    })
    .toReversed()
}
