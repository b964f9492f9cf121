/** The progress of a command: on a terminal one line that is redrawn, elsewhere a new line every few seconds. */
export interface Screen {
  isTTY?: boolean
  write(text: string): unknown
}

export interface ProgressLine {
  /** Draws the text, unless the last drawing was a moment ago. */
  draw(text: string): void
  drawNow(text: string): void
  /** On a terminal, replaces the line with `text`, or clears it. */
  end(text?: string): void
}

const REDRAW_MS = 100
/** Milliseconds between two lines without a terminal. */
export const LINE_MS = 5000

/** The first seconds, and the first per cent, say too little about the rest. A minute always says enough. */
const ESTIMATED_FROM = { seconds: 5, share: 0.05, alwaysAfter: 60 }

/**
 * Returns the time that is left, such as `15 s left`. Empty while it is too early for an estimate, and at the end. `done` took
 * `seconds`.
 */
export function describeRest(left: number, done: number, seconds: number): string[] {
  const { seconds: least, share, alwaysAfter } = ESTIMATED_FROM
  const isKnown = seconds >= alwaysAfter || (seconds >= least && done >= (done + left) * share)
  return isKnown && left > 0 && done > 0 ? [`${Math.ceil((left / done) * seconds)} s left`] : []
}

/** `now`: returns milliseconds. */
export function createProgressLine(screen: Screen, now: () => number): ProgressLine {
  const everyMs = screen.isTTY ? REDRAW_MS : LINE_MS
  let drawnAt = screen.isTTY ? -Infinity : now()
  const drawNow = (text: string): void => void screen.write(screen.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
  return {
    drawNow,
    draw(text) {
      if (now() - drawnAt < everyMs) return
      drawnAt = now()
      drawNow(text)
    },
    end(text = '') {
      if (screen.isTTY) screen.write(`\r\x1b[K${text}${text && '\n'}`)
    },
  }
}
