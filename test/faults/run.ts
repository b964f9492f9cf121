/** `bun run faults [--seed N] [--scenario WORDS] [--long] [--keep]`: breaks the product on purpose and says what came of it. */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { type Report, runScenario } from './run-scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { openWorld } from './world.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    scenario: { type: 'string', default: '' },
    long: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed ?? randomInt(1_000_000_000))
const chosen = SCENARIOS.filter(({ name }) => name.includes(values.scenario))
say(`seed ${seed}${values.long ? ', long' : ''}: ${chosen.length} of ${SCENARIOS.length} scenarios`)

const world = await openWorld()
const reports: Report[] = []
try {
  for (const [at, scenario] of chosen.entries()) {
    const started = Date.now()
    const report = await runScenario(world, scenario, { seed, long: values.long })
    reports.push(report)
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    say(
      `[${at + 1}/${chosen.length}] ${scenario.name}: ${report.complaints.length === 0 ? 'well' : 'BROKEN'} in ${seconds} s, told ${JSON.stringify(report.told)}`,
    )
    for (const complaint of report.complaints) say(`    ${complaint}`)
  }
} finally {
  if (reports.some(({ complaints }) => complaints.length > 0) || reports.length < chosen.length)
    say(`The seed was ${seed}.`)
  await world.close({ keep: values.keep })
  if (values.keep) say(`Data and logs: ${world.folder}`)
}
say(`\n${tableOf(reports)}`)
process.exit(reports.every(({ complaints }) => complaints.length === 0) ? 0 : 1)

function tableOf(reports: Report[]): string {
  const head = ['fault', 'acknowledged', 'recorded', 'lost', 'doubled', 'recovery']
  const rows = reports.map(({ scenario, acknowledged, recorded, lost, doubled, recoveryMs }) =>
    [scenario, acknowledged, recorded, lost, doubled, recoveryMs === undefined ? '-' : `${recoveryMs} ms`].map(String),
  )
  const widths = head.map((_, at) => Math.max(...[head, ...rows].map((row) => row[at]?.length ?? 0)))
  return [head, ...rows].map((row) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')).join('\n')
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
