import { sleep } from '../../async/sleep.ts'
import type { Report } from '../command.ts'

/**
 * Rounds with a pause between them until `signal` aborts. As JSON each is a line; in words a round is told when it says
 * something else than the one before. The exit code is that of the last round that came to its end.
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
    if (asJson) say(JSON.stringify({ round: rounds, at: time, ...(report.json as object) }))
    else if (!last || reportKey(last) !== reportKey(report)) say(`${time} ${report.text}`)
    last = report
    await sleep(pauseMs, signal)
  }
  return {
    json: { stopped: true, rounds },
    text: `Stopped after ${rounds === 1 ? 'one round' : `${rounds} rounds`}`,
    exitCode: last?.exitCode ?? 3,
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** What a report says, but for figures that are others each time. */
function reportKey({ json }: Report): string {
  const { agree, error, differing, differences, uncompared, repaired } = json as Record<string, unknown>
  return JSON.stringify({ agree, error, differing, differences, uncompared, repaired })
}
