/** How far a command is: one line that redraws itself on a terminal, a line every few seconds elsewhere. */
export interface Screen {
  isTTY?: boolean
  write(text: string): unknown
}

export interface Pen {
  /** Unless it drew a moment ago. */
  draw(text: string): void
  drawNow(text: string): void
  /** Leaves the text on a terminal, or nothing. */
  end(text?: string): void
}

const REDRAW_MS = 100
/** Between two lines where there is no terminal. */
export const LINE_MS = 5000

/** `now` in ms. */
export function drawProgress(screen: Screen, now: () => number): Pen {
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
