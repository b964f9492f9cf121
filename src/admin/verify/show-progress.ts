/** How far a round is: redrawn on a terminal, a line now and then elsewhere. */
export interface Progress {
  advance(contacts: number): void
  /** What is waited for, beside the figures. */
  say(text: string): void
  end(): void
}

interface Screen {
  isTTY?: boolean
  write(text: string): unknown
}

const REDRAW_MS = 200
const LINE_MS = 5000

export function showProgress(screen: Screen, total: number, now = () => performance.now()): Progress {
  const startedAt = now()
  let drawnAt = screen.isTTY ? -Infinity : startedAt
  let done = 0
  const draw = (text: string): void => {
    if (now() - drawnAt < (screen.isTTY ? REDRAW_MS : LINE_MS)) return
    drawnAt = now()
    screen.write(screen.isTTY ? `\r\x1b[K${text}` : `${text}\n`)
  }
  const figures = () => describe(done, total, (now() - startedAt) / 1000)
  return {
    advance(contacts) {
      done += contacts
      draw(figures())
    },
    say: (text) => draw(`${figures()}  ${text}`),
    end() {
      if (screen.isTTY) screen.write('\r\x1b[K')
    },
  }
}

/** A repair looks again at what it did: past the end it begins anew. */
function describe(done: number, total: number, seconds: number): string {
  const perSecond = done / Math.max(seconds, 0.001)
  const here = total === 0 ? 0 : done - total * Math.floor(Math.max(0, done - 1) / total)
  const left = total - here
  const parts = [
    `${String(total === 0 ? 100 : Math.floor((here / total) * 100)).padStart(3)} %`,
    `${here} of ${total} contacts${done > total ? ', once more' : ''}`,
    `${Math.round(perSecond)}/s`,
    ...(left > 0 && perSecond > 0 ? [`${Math.ceil(left / perSecond)} s left`] : []),
  ]
  return parts.join('  ')
}
