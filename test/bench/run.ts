/** `bun run bench`: puts the product under load on this machine, and reports the result and how far it is from what is possible. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { openBench } from './bench.ts'
import { describeMachine } from './describe-machine.ts'
import { guard } from './guard.ts'
import { plotLatency } from './plot-latency.ts'
import { type Report, type ScenarioReport, renderReport } from './render-report.ts'
import { SCENARIOS } from './scenarios/index.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { warmUp } from './warm-up.ts'

const HELP = `Usage: bun run bench [--quick] [--scenario NAME] [--out DIR] [--json]

Starts the product on an empty directory, sends it load, and writes bench-report.md, .json and .svg.

  --quick          Short forms of all scenarios: about two minutes
  --scenario NAME  Those with NAME in their name; may be repeated
  --out DIR        Where the report goes (here)
  --place DIR      Where the data lie meanwhile (the system's temporary directory)
  --herd N         Of segments: contacts that are due in one second (30,000)
  --clock-rows N   Of segments: contacts that time will change later (1,000,000)
  --contacts N     Of segments: contacts of the preview and of the computation (100,000)
  --sends N        Of sends: messages that are due at once (100,000)
  --waiting N      Of sends: enrolments that wait at rest (1,000,000)
  --events N       Of analytics: events, ten a contact (10,000,000)
  --json           Print the report as one line of JSON
  --guard          Only compare the pipeline's CPU with its ceilings' and with the figure kept; exit code 1 when it grew

Scenarios:
${SCENARIOS.map(({ name, title }) => `  ${name.padEnd(22)}${title}`).join('\n')}

The product's settings (WORKER_THREADS, STREAM_PARTITIONS, …) are taken from the environment.
docs/performance.md explains the figures.`

const say = (text: string) => void process.stderr.write(`${text}\n`)
const values = readArguments()
const chosen = SCENARIOS.filter(({ name }) => values.scenario.some((word) => name.includes(word)))
const sizes = {
  herd: readSize(values.herd),
  clockRows: readSize(values['clock-rows']),
  contacts: readSize(values.contacts),
  sends: readSize(values.sends),
  waiting: readSize(values.waiting),
  events: readSize(values.events),
}
if (chosen.length === 0) refuse('There is no such scenario.')
// Not after all scenarios.
await mkdir(values.out, { recursive: true })

const report: Report = { machine: await describeMachine(values.place), quick: values.quick, scenarios: [] }
const bench = await openBench({ quick: values.quick || values.guard, place: values.place, sizes })
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void bench.close().then(() => process.exit(130)))
if (values.guard) process.exit(await runGuard())
try {
  for (const scenario of chosen.filter(({ cold }) => cold)) await runScenario(scenario)
  const warm = chosen.filter(({ cold }) => !cold)
  if (warm.length > 0) say('warming up')
  if (warm.length > 0) await warmUp(bench)
  for (const scenario of warm) await runScenario(scenario)
} finally {
  await bench.close()
}
await writeReport()
process.exit(report.scenarios.some(({ failure }) => failure !== undefined) ? 1 : 0)

function readArguments() {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  const options = {
    quick: flag,
    scenario: { ...text, multiple: true, default: [''] },
    out: { ...text, default: '.' },
    place: text,
    herd: text,
    'clock-rows': text,
    contacts: text,
    sends: text,
    waiting: text,
    events: text,
    json: flag,
    guard: flag,
    help: { ...flag, short: 'h' },
  } satisfies ParseArgsOptionsConfig
  try {
    const { values } = parseArgs({ options })
    if (!values.help) return values
  } catch (error) {
    refuse((error as Error).message)
  }
  process.stdout.write(`${HELP}\n`)
  process.exit(0)
}

function readSize(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const size = Number(value)
  if (Number.isInteger(size) && size > 0) return size
  return refuse(`${value} is not a number above 0.`)
}

function refuse(complaint: string): never {
  say(`${complaint}\n\n${HELP}`)
  process.exit(2)
}

async function runGuard(): Promise<number> {
  try {
    await warmUp(bench)
    const { passed, advice } = await guard(bench, say)
    say(advice)
    return passed ? 0 : 1
  } finally {
    await bench.close()
  }
}

async function runScenario(scenario: Scenario): Promise<void> {
  const { name, title } = scenario
  const started = performance.now()
  const result: ScenarioReport = { name, title, seconds: 0 }
  report.scenarios.push(result)
  try {
    result.outcome = await scenario.run(bench)
  } catch (error) {
    result.failure = error instanceof Error ? error.message || error.name : String(error)
  }
  result.seconds = Math.round((performance.now() - started) / 100) / 10
  say(describe(result))
}

function describe({ name, seconds, outcome, failure }: ScenarioReport): string {
  const head = `${name} (${seconds} s)`
  if (failure !== undefined) return `${head}: FAILED: ${failure}`
  const checks = outcome?.checks.map(({ goal, figure, met }) => `${met === false ? 'NOT MET: ' : ''}${goal}: ${figure}`)
  const ratio = outcome?.ratio ? [`${outcome.ratio.value.toFixed(2)} times the ceilings`] : []
  return [head, ...(checks ?? []), ...ratio].join('\n    ')
}

async function writeReport(): Promise<void> {
  // What each single request met is for the scenario alone.
  const json = (space?: number) =>
    JSON.stringify(report, (key, value: unknown) => (key === 'trace' ? undefined : value), space)
  const file = (extension: string) => join(values.out, `bench-report.${extension}`)
  const points = report.scenarios.flatMap(({ outcome }) => outcome?.points ?? [])
  await writeFile(file('json'), `${json(2)}\n`)
  await writeFile(file('md'), renderReport(report))
  if (points.length > 0) await writeFile(file('svg'), plotLatency(points))
  if (values.json) process.stdout.write(`${json()}\n`)
  else say(`\nThe report: ${file('md')}`)
}
