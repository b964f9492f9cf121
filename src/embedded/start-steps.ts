/** Says what `start` is doing. A step that ends within a moment says nothing. */

/** Replaces what is known about why the step has not ended yet. A change is said at once, if the step is. */
export type Explain = (detail: string) => void

/** Does the work, and meanwhile says `doing`, such as `Starting Redis`. Steps may overlap. */
export type Step = <Result>(doing: string, work: (explain: Explain) => Promise<Result>) => Promise<Result>

/** A step is said once it has taken this long, then every `REPEAT_MS` until it ends. */
export const SHOWN_AFTER_MS = 1000
export const REPEAT_MS = 10_000

/** Says nothing, for tests and for engines that run without a terminal. */
export const quietStep: Step = (_doing, work) => work(() => undefined)

/** Prints the steps with `print`, a line each, until `signal` aborts. */
export function printSteps(print: (line: string) => void, signal: AbortSignal): Step {
  const say = (line: string) => {
    if (!signal.aborted) print(line)
  }
  return async (doing, work) => {
    const startedAt = performance.now()
    const elapsed = () => (performance.now() - startedAt) / 1000
    let detail = ''
    let repeated: ReturnType<typeof setInterval> | undefined
    const sayOn = (after = '') => say(`${doing} …${after}${detail && ` (${detail})`}`)
    const sayTime = () => sayOn(` ${elapsed().toFixed(0)} s`)
    const shown = setTimeout(() => {
      sayOn()
      repeated = setInterval(sayTime, REPEAT_MS)
    }, SHOWN_AFTER_MS)
    const explain = (text: string) => {
      const isNew = text !== detail
      detail = text
      if (isNew && repeated) sayTime()
    }
    try {
      const result = await work(explain)
      if (repeated) say(`${doing}: done in ${elapsed().toFixed(1)} s`)
      return result
    } finally {
      clearTimeout(shown)
      clearInterval(repeated)
    }
  }
}
