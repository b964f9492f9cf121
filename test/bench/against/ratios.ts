/** Compares two series of figures that were measured in turn. */

import type { Figures } from './figures.ts'

export interface Ratio {
  figure: string
  /** Medians of the rounds. */
  today: number
  other: number
  /** Median, lowest and highest ratio of the rounds, `today` divided by `other`. */
  median: number
  lowest: number
  highest: number
}

/** Each round has figures of both builds, measured one after the other. Figures that a build lacks, or that are 0 in a round, are left out. */
export function compareRounds(rounds: { today: Figures; other: Figures }[]): Ratio[] {
  const names = Object.keys(rounds[0]?.today ?? {})
  return names.flatMap((figure) => {
    const pairs = rounds.flatMap(({ today, other }) => {
      const [ours, theirs] = [today[figure], other[figure]]
      return ours && theirs ? [{ ours, theirs }] : []
    })
    if (pairs.length < rounds.length) return []
    const ratios = pairs.map(({ ours, theirs }) => ours / theirs)
    return {
      figure,
      today: median(pairs.map(({ ours }) => ours)),
      other: median(pairs.map(({ theirs }) => theirs)),
      median: median(ratios),
      lowest: Math.min(...ratios),
      highest: Math.max(...ratios),
    }
  })
}

/** Of an even number, the mean of the two in the middle. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low = NaN, high = NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]]
  return (low + high) / 2
}
