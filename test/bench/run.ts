/**
 * `bun run bench`: puts the product under load on this machine, and reports the results and their ratio to the
 * theoretical minimum.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderAgainst } from './against/render-against.ts'
import { runAgainst } from './against/run-against.ts'
import { openBench } from './bench.ts'
import { describeMachine } from './describe-machine.ts'
import { guard } from './guard.ts'
import { plotLatency } from './plot-latency.ts'
import { type Arguments, HELP, readArguments } from './read-arguments.ts'
import { type Report, type ScenarioReport, renderReport } from './render-report.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { warmUp } from './warm-up.ts'

const say = (text: string) => void process.stderr.write(`${text}\n`)
const { values, chosen, comparisons, rounds, sizes } = readOrExit()
// Before the scenarios, so that an unusable folder is noticed now and not after all of them.
await mkdir(values.out, { recursive: true })

if (values.against !== undefined) process.exit(await compareBuilds(values.against))

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

function readOrExit(): Arguments {
  try {
    const read = readArguments(process.argv.slice(2))
    if (read !== 'help') return read
  } catch (error) {
    say(`${(error as Error).message}\n\n${HELP}`)
    process.exit(2)
  }
  process.stdout.write(`${HELP}\n`)
  process.exit(0)
}

async function compareBuilds(revision: string): Promise<number> {
  const { quick, place, out, json } = values
  const machine = await describeMachine(place)
  try {
    const compared = await runAgainst({ revision, comparisons, rounds, quick, place, say })
    const text = JSON.stringify({ machine, ...compared })
    await writeFile(join(out, 'bench-against.json'), `${text}\n`)
    await writeFile(join(out, 'bench-against.md'), renderAgainst(machine, compared))
    if (json) process.stdout.write(`${text}\n`)
    else say(`\nThe report: ${join(out, 'bench-against.md')}`)
    return 0
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    return 1
  }
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
  // The traces of single requests are only for the scenarios.
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
