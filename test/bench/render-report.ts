/** Renders the report for people. */
import type { Step } from './ceilings/measure-ceilings.ts'
import type { Machine } from './describe-machine.ts'
import type { Measured } from './measure.ts'
import { type Outcome, type Ratio, rounded } from './scenarios/scenario.ts'
import { PARTS, type Part } from './stack.ts'

export interface ScenarioReport {
  name: string
  title: string
  seconds: number
  outcome?: Outcome
  failure?: string
}

export interface Report {
  machine: Machine
  quick: boolean
  scenarios: ScenarioReport[]
}

const RATIO_GOAL = 1.5

export function renderReport(report: Report): string {
  const sections = [
    '# Bench report',
    renderHeadline(report),
    renderMachine(report.machine),
    '## Goals',
    renderGoals(report),
    '## Figures',
    renderFigures(report),
    renderPlot(report),
    '## CPU, µs an event',
    renderCpu(report),
    '## Memory at the highest, MB',
    renderMemory(report),
    '## Ceilings, µs of CPU an event',
    renderCeilings(report),
    renderNotes(report),
  ]
  return `${sections.filter(Boolean).join('\n\n')}\n`
}

function renderHeadline({ scenarios, quick }: Report): string {
  const [first] = scenarios.flatMap(({ outcome }) => outcome?.ratio ?? [])
  const form = quick ? 'Short forms of the scenarios: for a first look, not for publication.' : ''
  if (!first) return form
  const met = first.value <= RATIO_GOAL ? 'met' : 'not met'
  return (
    `**The pipeline spends ${rounded(first.value)} times the CPU that its ceilings need** ` +
    `(${rounded(first.pipeline)} of ${rounded(first.ceilings.sum)} µs an event; goal at most ${RATIO_GOAL}: ${met}). ${form}`
  ).trim()
}

export function renderMachine(machine: Machine): string {
  const { cpu, cores, memoryBytes, system, disk, load, versions, settings, startedAt } = machine
  const list = (of: Record<string, string>) =>
    Object.entries(of)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')
  return [
    `${cpu}, ${cores} cores, ${rounded(memoryBytes / 2 ** 30)} GiB; ${system}; ${disk}.`,
    `Load before the run ${load.map((value) => value.toFixed(2)).join(', ')}; begun ${startedAt}.`,
    `${list(versions)}${Object.keys(settings).length > 0 ? `; settings: ${list(settings)}` : ''}.`,
  ].join('\n')
}

function renderGoals({ scenarios }: Report): string {
  const rows = scenarios.flatMap(({ name, title, outcome, failure }) => {
    if (failure !== undefined) return [[name, title, '', failure, '**failed**']]
    return (outcome?.checks ?? []).map(({ goal, figure, met }, at) => [
      at === 0 ? name : '',
      at === 0 ? title : '',
      goal,
      figure,
      met === null ? '-' : met ? 'met' : '**not met**',
    ])
  })
  return table(['scenario', '', 'goal', 'measured', ''], rows)
}

type Loads = { name: string; label: string; measured: Measured }[]

const loadsOf = ({ scenarios }: Report): Loads =>
  scenarios.flatMap(({ name, outcome }) =>
    Object.entries(outcome?.measured ?? {}).map(([label, measured]) => ({ name, label, measured })),
  )

function renderFigures(report: Report): string {
  const head = ['scenario', 'load', 'events/s', 'p50 ms', 'p95', 'p99', 'p99.9', 'most', 'events an entry']
  const more = ['a micro-batch', 'an insert', 'WAL bytes an event', 'entries waiting', 'saves waiting']
  const rows = loadsOf(report).map(({ name, label, measured }) => {
    const { load, groups, observed } = measured
    const { p50, p95, p99, p999, max } = load.latency
    const figures = [measured.rate, p50, p95, p99, p999, max, groups.entry, groups.microBatch, groups.insert]
    return [
      name,
      label,
      ...[...figures, measured.walBytesPerEvent, observed.streamEntries, observed.outboxRows].map(rounded),
    ]
  })
  return table([...head, ...more], rows)
}

const renderPlot = ({ scenarios }: Report): string =>
  scenarios.some(({ outcome }) => outcome?.points) ? '![Latency against offered rate](bench-report.svg)' : ''

const columns = (of: Record<Part, number>) => PARTS.map((part) => rounded(of[part]))

function renderCpu(report: Report): string {
  const rows = loadsOf(report).map(({ name, label, measured }) => [
    name,
    label,
    ...columns(measured.cpu),
    `**${rounded(measured.cpuTotal)}**`,
    rounded(measured.cpuGenerator),
  ])
  return table(['scenario', 'load', ...PARTS, 'together', '(generator)'], rows)
}

function renderMemory(report: Report): string {
  const megabytes = (of: Record<Part, number>) => PARTS.map((part) => rounded(of[part] / 2 ** 20))
  const rows = loadsOf(report).map(({ name, label, measured }) => [name, label, ...megabytes(measured.observed.memory)])
  return table(['scenario', 'load', ...PARTS], rows)
}

const STEP_TITLES: Record<Step, string> = {
  http: 'no-op route',
  redis: 'XADD and XREAD',
  postgres: 'one statement',
  clickhouse: 'raw insert',
}

function renderCeilings({ scenarios }: Report): string {
  const ratios = scenarios.flatMap(({ name, outcome }) => (outcome?.ratio ? [{ name, ratio: outcome.ratio }] : []))
  const steps = Object.keys(STEP_TITLES) as Step[]
  const row = ({ name, ratio }: { name: string; ratio: Ratio }) => [
    name,
    ...[...steps.map((step) => ratio.ceilings.steps[step]), ratio.ceilings.sum, ratio.pipeline].map(rounded),
    `**${rounded(ratio.value)}**`,
  ]
  return table(['scenario', ...steps.map((step) => STEP_TITLES[step]), 'sum', 'pipeline', 'ratio'], ratios.map(row))
}

function renderNotes({ scenarios }: Report): string {
  const notes = scenarios.flatMap(({ name, outcome }) => (outcome?.notes ?? []).map((note) => `- ${name}: ${note}`))
  return notes.length > 0 ? `## Notes\n\n${notes.join('\n')}` : ''
}

export function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return '-'
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
