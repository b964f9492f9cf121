/** Where the axis of times of a chart has labels, and which: at times of the chart alone, so that each names a point or a bar. */

interface Scale {
  /** As the times. */
  min: number
  max: number
  /** In pixels. */
  width: number
}

/** Pixels from one label to the next, at least. */
const SPACE = 64
const HOUR_S = 3600

/** @param times ascending */
export function ticksOf(times: readonly number[], { min, max, width }: Scale): number[] {
  const apart = ((max - min) / width) * SPACE
  const ticks: number[] = []
  for (const time of times) {
    const last = ticks.at(-1)
    if (time >= min && time <= max && (last === undefined || time - last >= apart)) ticks.push(time)
  }
  return ticks
}

/** Whether times of one day differ. A day can have 23 hours. */
export const areWithinDays = (times: readonly number[]): boolean =>
  times.some((time, at) => at > 0 && time - (times[at - 1] ?? time) < 12 * HOUR_S)

interface Formats {
  /** What is shown of each. */
  short: (at: Date) => string
  /** What is shown beneath it, where it begins or changes. */
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
