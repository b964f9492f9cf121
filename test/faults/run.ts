/** `bun run faults`: breaks the product on purpose and reports the outcome. */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { formatTable } from '../../src/admin/format-help.ts'
import { type Report, type Scenario, runScenario } from './run-scenario.ts'
import { fuzzedEndpoints } from './scenarios/fuzz-endpoints.ts'
import { SCENARIOS as OF_THE_SUITE } from './scenarios/index.ts'
import { openWorld } from './world.ts'

const SCENARIOS = [...OF_THE_SUITE, fuzzedEndpoints(10_000)]

const HELP = `Usage: bun run faults [options]

Runs the product as separate processes, breaks them under load, and audits what was recorded. Exit codes: 0 nothing was
lost, doubled or otherwise wrong; 1 something was; 2 typed wrongly.

Options:
${formatTable([
  ['--scenario WORDS', 'only those with these words in their names; all by default'],
  ['--long', 'every fault many times over, and for longer'],
  ['--seed N', 'make the choices of an earlier run again; chosen and printed by default'],
  ['--keep', 'leave data and logs, and say where'],
])}

Scenarios:
${SCENARIOS.map(({ name }) => `  ${name}`).join('\n')}`

const options = readOptions()
say(`seed ${options.seed}${options.long ? ', long' : ''}: ${options.chosen.length} of ${SCENARIOS.length} scenarios`)
let world = await openWorld()
const reports: Report[] = []
const notRun: string[] = []
for (const [at, scenario] of options.chosen.entries()) {
  const started = Date.now()
  const reason = await scenario.whyNot?.()
  if (reason !== undefined) {
    notRun.push(`${scenario.name}: ${reason}`)
    continue
  }
  const report = await runScenario(world, scenario, options).catch((error: unknown) => stranded(scenario, error))
  reports.push(report)
  const state = isWell(report) ? 'well' : 'BROKEN'
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  const answers = Object.entries(report.answers).map(([answer, times]) => `${times} × ${answer}`)
  say(`[${at + 1}/${options.chosen.length}] ${scenario.name}: ${state} in ${seconds} s (${answers.join(', ')})`)
  for (const figure of report.notes) say(`    ${figure}`)
  for (const complaint of report.complaints) say(`    ${complaint}`)
  if (report.isStranded) {
    await close()
    world = await openWorld()
  }
}
await close()
say(`\n${tableOf(reports)}`)
for (const one of notRun) say(`\nNOT RUN: ${one}`)
if (!reports.every(isWell)) say(`\nThe seed was ${options.seed}.`)
process.exit(reports.every(isWell) ? 0 : 1)

function readOptions() {
  const { values } = parseOrExplain()
  if (values.help) {
    say(HELP)
    process.exit(0)
  }
  const { seed = String(randomInt(1_000_000_000)), scenario, long, keep } = values
  const chosen = SCENARIOS.filter(({ name }) => name.includes(scenario))
  if (chosen.length === 0) explain(`No scenario has "${scenario}" in its name.`)
  if (!/^\d{1,9}$/.test(seed)) explain('--seed takes a whole number of at most nine digits.')
  return { seed: Number(seed), chosen, long, keep }
}

function parseOrExplain() {
  const flag = { type: 'boolean', default: false } as const
  try {
    return parseArgs({
      options: {
        seed: { type: 'string' },
        scenario: { type: 'string', default: '' },
        long: flag,
        keep: flag,
        help: flag,
      },
    })
  } catch (error) {
    return explain((error as Error).message)
  }
}

function explain(fault: string): never {
  process.stderr.write(`${fault}\n\n${HELP}\n`)
  process.exit(2)
}

/** The scenario could not be completed, so the next one begins in a new world. */
function stranded({ name }: Scenario, error: unknown): Report {
  const complaint = `did not come to its end: ${error instanceof Error ? error.message : String(error)}`
  const nothing = { acknowledged: 0, recorded: 0, lost: 0, doubled: 0, recoveryMs: undefined, answers: {}, notes: [] }
  return { ...nothing, scenario: name, seed: options.seed, complaints: [complaint], isStranded: true }
}

async function close(): Promise<void> {
  await world.close({ keep: options.keep })
  if (options.keep) say(`Data and logs: ${world.folder}`)
}

function isWell({ complaints }: Report): boolean {
  return complaints.length === 0
}

function tableOf(all: Report[]): string {
  const head = ['fault', 'acknowledged', 'recorded', 'lost', 'doubled', 'recovery', '']
  const rows = all.map((report) => {
    const { scenario, acknowledged, recorded, lost, doubled, recoveryMs } = report
    const recovery = recoveryMs === undefined ? '-' : `${recoveryMs} ms`
    return [scenario, acknowledged, recorded, lost, doubled, recovery, isWell(report) ? 'well' : 'BROKEN'].map(String)
  })
  return formatTable([head, ...rows])
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
