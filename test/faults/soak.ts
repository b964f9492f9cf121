/**
 * `bun run soak`: runs faults for hours, one after the other, and reports anything that is lost, doubled or leaking.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { formatTable } from '../../src/admin/format-help.ts'
import { type Report, type Scenario, runScenarios } from './run-scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'
import { seeded } from './seeded.ts'
import { findTrends } from './find-trends.ts'
import { type Figures, MEMORY, readFigures } from './soak/read-figures.ts'
import { openWorld } from './world.ts'

const HELP = `Usage: bun run soak --minutes N [options]

Runs the product as separate processes under steady traffic, and breaks it again and again: some faults, then an audit of
what was recorded in that cycle, then the next. Reports memory, files, connections and tables that grow. Ctrl-C ends it
after the fault under way, with an audit; a second one ends it at once. Exit codes: 0 all was well; 1 it was not; 2 typed wrongly.

Options:
${formatTable([
  ['--minutes N', 'how long; the cycle under way is brought to its end'],
  ['--scenario WORDS', 'only faults with these words in their names; all by default'],
  ['--seed N', 'make the choices of an earlier run again; chosen and printed by default'],
  ['--keep', 'leave data and logs, and say where'],
])}`

const FAULTS_OF_A_CYCLE = 3
const PAUSE_MS = 3000

const options = readOptions()
const chance = seeded(options.seed)
const stopping = stopOnInterrupt()
const began = Date.now()
const complaints: string[] = []
const readings: Figures[] = []
const totals = { acknowledged: 0, recorded: 0, lost: 0, doubled: 0, faults: 0 }

const kinds = await findPossible(options.chosen)
say(`seed ${options.seed}: ${options.minutes} minutes, ${kinds.length} kinds of faults`)
const world = await openWorld()
try {
  while (!stopping.aborted && Date.now() - began < options.minutes * 60_000) if (!(await runCycle())) break
} catch (error) {
  complaints.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
} finally {
  await world.close({ keep: options.keep })
  if (options.keep) say(`Data and logs: ${world.folder}`)
}
reportTrends()
reportComplaints()
process.exit(complaints.length === 0 ? 0 : 1)

/** Returns false when the state of the world is unknown. Each cycle has its own businesses and its own ledger. */
async function runCycle(): Promise<boolean> {
  const seed = chance.below(1_000_000_000)
  const faults = chance.shuffle(kinds).slice(0, FAULTS_OF_A_CYCLE)
  const report = await runScenarios(world, faults, { seed, long: false, pauseMs: PAUSE_MS, stopping })
  const { growing, wrong } = await readFigures(world)
  readings.push(growing)
  totals.faults += report.scenario === '' ? 0 : report.scenario.split(' · ').length
  for (const name of ['acknowledged', 'recorded', 'lost', 'doubled'] as const) totals[name] += report[name]
  const found = [...report.complaints, ...wrong.map((what) => `left at rest: ${what}`)]
  complaints.push(...found.map((complaint) => `cycle ${readings.length} (${report.scenario}): ${complaint}`))
  reportProgress(report, growing, found)
  return !report.isStranded
}

/** Returns the scenarios that this machine can run. */
async function findPossible(scenarios: Scenario[]): Promise<Scenario[]> {
  const judged = scenarios.map(async (scenario) => {
    const reason = await scenario.whyNot?.()
    if (reason !== undefined) say(`NOT RUN: ${scenario.name}: ${reason}`)
    return reason === undefined ? [scenario] : []
  })
  return (await Promise.all(judged)).flat()
}

function reportProgress(
  { scenario, acknowledged, recorded, lost, doubled }: Report,
  now: Figures,
  found: string[],
): void {
  const memory = Object.entries(now).filter(([name]) => name.endsWith(MEMORY))
  const rss = memory.map(([name, size]) => `${name.slice(0, -MEMORY.length - 1)} ${size}`).join(', ')
  say(
    `[${clock()}] ${scenario || 'no fault'}: ${acknowledged} acknowledged, ${recorded} recorded, ${lost} lost, ` +
      `${doubled} doubled; MiB: ${rss}`,
  )
  for (const complaint of found) say(`    ${complaint}`)
}

function reportTrends(): void {
  const trends = findTrends(readings)
  const rows = trends.map(({ name, before, after, most, isGrowing }) =>
    [name, before, after, most, isGrowing ? 'GROWING' : ''].map(String),
  )
  if (rows.length > 0) say(`\n${formatTable([['', 'middle third', 'last third', 'most', ''], ...rows])}`)
  for (const { name, before, after, isGrowing } of trends)
    if (isGrowing) complaints.push(`${name} goes up: ${before}, then ${after}`)
}

function reportComplaints(): void {
  const { faults, acknowledged, recorded, lost, doubled } = totals
  say(
    `\n${clock()}, ${readings.length} cycles, ${faults} faults: ${acknowledged} acknowledged, ${recorded} recorded, ` +
      `${lost} lost, ${doubled} doubled`,
  )
  if (complaints.length === 0) return say('All was well.')
  say(`BROKEN (the seed was ${options.seed}):`)
  for (const complaint of complaints) say(`  ${complaint}`)
}

function stopOnInterrupt(): AbortSignal {
  const stopping = new AbortController()
  process.on('SIGINT', () => {
    if (stopping.signal.aborted) process.exit(130)
    say('Ending after the fault under way, with an audit. A second Ctrl-C ends it at once.')
    stopping.abort()
  })
  return stopping.signal
}

interface Options {
  minutes: number
  seed: number
  chosen: Scenario[]
  keep: boolean
}

function readOptions(): Options {
  const { minutes, seed = String(randomInt(1_000_000_000)), scenario, keep, help } = parseOrExplain()
  if (help) {
    say(HELP)
    process.exit(0)
  }
  const chosen = SCENARIOS.filter(({ name }) => name.includes(scenario))
  if (chosen.length === 0) explain(`No scenario has "${scenario}" in its name.`)
  if (!/^\d{1,9}$/.test(seed)) explain('--seed takes a whole number of at most nine digits.')
  if (!(Number(minutes) > 0)) explain('--minutes is required: a number above 0.')
  return { minutes: Number(minutes), seed: Number(seed), chosen, keep }
}

function parseOrExplain() {
  const flag = { type: 'boolean', default: false } as const
  const text = { type: 'string' } as const
  try {
    const scenario = { ...text, default: '' }
    return parseArgs({ options: { minutes: text, seed: text, scenario, keep: flag, help: flag } }).values
  } catch (error) {
    return explain((error as Error).message)
  }
}

function explain(fault: string): never {
  process.stderr.write(`${fault}\n\n${HELP}\n`)
  process.exit(2)
}

function clock(): string {
  const seconds = Math.round((Date.now() - began) / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
