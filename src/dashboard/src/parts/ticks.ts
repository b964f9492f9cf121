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
const MINUTE_S = 60
const DAY_S = 86_400
/** From one label to the next within a day, so that the clock is round and each day begins with a label. */
const STEPS_S = [5, 10, 15, 30, 60, 120, 180, 360, 720, 1440].map((minutes) => minutes * MINUTE_S)

/** @param times ascending; some may be equal, where the clock goes back. Or whole numbers of another kind */
export function ticksOf(times: readonly number[], { min, max, width }: Scale): number[] {
  const shown = [...new Set(times)].filter((time) => time >= min && time <= max)
  const apart = ((max - min) / width) * SPACE
  if (!areWithinDays(shown) || !areMultiples(shown, STEPS_S[0])) return spread(shown, apart)
  const ofSteps = STEPS_S.map((step) => shown.filter((time) => time % step === 0)).filter(({ length }) => length > 1)
  return ofSteps.find((ticks) => spread(ticks, apart).length === ticks.length) ?? spread(ofSteps.at(-1) ?? shown, apart)
}

/** Those that are far enough from the one before them. */
function spread(times: readonly number[], apart: number): number[] {
  const ticks: number[] = []
  for (const time of times) {
    const last = ticks.at(-1)
    if (last === undefined || time - last >= apart) ticks.push(time)
  }
  return ticks
}

const areMultiples = (times: readonly number[], step = 1): boolean => times.every((time) => time % step === 0)
export const areRound = (times: readonly number[]): boolean => areMultiples(times, MINUTE_S)

/** Whether times of one day differ. */
export const areWithinDays = (times: readonly number[]): boolean =>
  times.some((time, at) => at > 0 && time % DAY_S !== (times[at - 1] ?? time) % DAY_S)

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
