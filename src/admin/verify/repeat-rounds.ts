import { sleep } from '../../async/sleep.ts'
import { type Report, UsageError } from '../command.ts'

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 }

/** Returns the milliseconds of `30s`, `10m` or `1h`. Throws UsageError. */
export function readPause(text: string, option = '--every'): number {
  const [, count = '', unit = ''] = /^(\d{1,5})([smh])$/.exec(text) ?? []
  const ms = Number(count) * (UNITS[unit] ?? 0)
  if (ms > 0 && ms <= 7 * 24 * 3_600_000) return ms
  throw new UsageError(`${option} must be a time such as 30s, 10m or 1h, of a week at most, not "${text}"`)
}

/**
 * Runs rounds with a pause between them until `signal` aborts. As JSON, each round is one line. As text, a round is
 * printed only if its result differs from the previous one. The exit code is that of the last completed round.
 */
export async function repeatRounds(
  round: () => Promise<Report>,
  pauseMs: number,
  signal: AbortSignal,
  asJson: boolean,
): Promise<Report> {
  let rounds = 0
  let last: Report | undefined
  while (!signal.aborted) {
    const report = await round()
    if (signal.aborted) break
    rounds += 1
    const time = new Date().toISOString()
    if (asJson) writeLine(JSON.stringify({ round: rounds, at: time, ...(report.json as object) }))
    else if (!last || reportKey(last) !== reportKey(report)) writeLine(`${time} ${report.text}`)
    last = report
    await sleep(pauseMs, signal)
  }
  return {
    json: { stopped: true, rounds },
    text: `Stopped after ${rounds === 1 ? 'one round' : `${rounds} rounds`}`,
    exitCode: last?.exitCode ?? 3,
  }
}

function writeLine(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Returns the result of a round without figures that differ each time. */
function reportKey({ json }: Report): string {
  const { agree, error, differing, differences, uncompared, repaired } = json as Record<string, unknown>
  return JSON.stringify({ agree, error, differing, differences, uncompared, repaired })
}
