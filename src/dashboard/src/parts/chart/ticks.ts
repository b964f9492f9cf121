/**
 * Chooses the labels of a chart's time axis. They are only at times of the chart, so each one names a point or a bar.
 */

interface Scale {
  /** In the unit of the times. */
  min: number
  max: number
  /** In pixels. */
  width: number
}

/** Minimum distance between two labels, in pixels. */
const SPACE = 64
const MINUTE_S = 60
const DAY_S = 86_400
/** Distances between labels within a day. With each of them, labels are at round times, and each day begins with one. */
const STEPS_S = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => minutes * MINUTE_S)

/** @param times in ascending order, some equal where the clock goes back; or other whole numbers */
export function ticksOf(times: readonly number[], { min, max, width }: Scale): number[] {
  const shown = [...new Set(times)].filter((time) => time >= min && time <= max)
  const apart = ((max - min) / width) * SPACE
  if (!areWithinDays(shown) || !areMultiples(shown, STEPS_S[0])) return spread(shown, apart)
  const ofSteps = STEPS_S.map((step) => shown.filter((time) => time % step === 0)).filter(({ length }) => length > 1)
  return ofSteps.find((ticks) => spread(ticks, apart).length === ticks.length) ?? spread(ofSteps.at(-1) ?? shown, apart)
}

/** Returns the last one, and before it those that are at least `apart`. The latest time is the one that people look for. */
function spread(times: readonly number[], apart: number): number[] {
  const ticks: number[] = []
  for (const time of times.toReversed()) {
    const next = ticks.at(-1)
    if (next === undefined || next - time >= apart) ticks.push(time)
  }
  return ticks.reverse()
}

/** Returns the distances between the labels of values: for whole numbers, only whole ones. Undefined: any. */
export const stepsOfValues = (series: readonly { values: readonly (number | null)[] }[]): number[] | undefined =>
  series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)))
    ? WHOLE_STEPS
    : undefined

const WHOLE_STEPS = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((step) => step * 10 ** power)).flat()

const areMultiples = (times: readonly number[], step = 1): boolean => times.every((time) => time % step === 0)
export const areRound = (times: readonly number[]): boolean => areMultiples(times, MINUTE_S)

/** Returns whether the times have different times of day. */
export const areWithinDays = (times: readonly number[]): boolean =>
  times.some((time, at) => at > 0 && time % DAY_S !== (times[at - 1] ?? time) % DAY_S)

interface Formats {
  /** The label of each time. */
  short: (at: Date) => string
  /** A second line, for the first label and wherever it changes. */
  long: (at: Date) => string
}

/** @param ticks epoch seconds */
export function labelsOf(ticks: readonly number[], { short, long }: Formats): string[] {
  const times = ticks.map((tick) => new Date(tick * 1000))
  return times.map((time, at) => {
    const before = times[at - 1]
    return before !== undefined && long(before) === long(time) ? short(time) : `${short(time)}\n${long(time)}`
  })
}
