/** Scenarios of segments. `--scenario segments` runs all of them. */
import type { CpuByPart } from '../cpu-meter.ts'
import { type LiveBeside, RATE } from '../live-beside.ts'
import type { Observed } from '../observe.ts'
import type { ComputedTogether } from '../segments/measure-all.ts'
import { type IdleCost, measureClocks } from '../segments/measure-clocks.ts'
import { type Computed, type Ready, measureCompute } from '../segments/measure-compute.ts'
import { type Herd, measureBesideHerd, measureHerd } from '../segments/measure-herd.ts'
import { KINDS, type Kind, type LiveCost, type LiveLoad, SEGMENTS, measureLive } from '../segments/measure-live.ts'
import { PARTS } from '../stack.ts'
import { type Check, type Scenario, atLeast, atMost, noError, rounded } from './scenario.ts'

const MAX_GROWTH_PERCENT = 10
const HERD_RATE = 15_000
const MAX_BESIDE_TIMES = 2
const MAX_BESIDE_MS = 500

const NAMES_OF: Record<Kind, string> = { none: 'no segment', few: 'few changes', many: 'many changes' }

const segmentsLive: Scenario = {
  name: 'segments-live',
  title: `segments: live events, without them and with ${SEGMENTS.toLocaleString('en')} of which each touches 3`,
  async run(bench) {
    const { rate, rounds } = await measureLive(bench)
    const loads = KINDS.map((kind) => ({ kind, ...medianOf(rounds.map((round) => round[kind])) }))
    const costs = (kind: Kind) => rounds.map((round) => rounded(round[kind].measured.cpuTotal)).join(', ')
    return {
      checks: [
        atMost(
          `CPU an event grows, ${describeChanges(rounds, 'few')}`,
          growthOf(rounds, 'few'),
          MAX_GROWTH_PERCENT,
          '%',
        ),
        only(`CPU an event grows, ${describeChanges(rounds, 'many')}`, `${rounded(growthOf(rounds, 'many'))} %`),
        ...loads.map(({ measured }) => noError(measured.load)),
        ...loads.map(({ kind, measured }) => memoryOf(NAMES_OF[kind], measured)),
      ],
      measured: Object.fromEntries(loads.map(({ kind, measured }) => [NAMES_OF[kind], measured])),
      notes: [
        `${count(rate)} live events/s, µs an event by round: ${KINDS.map((kind) => `${NAMES_OF[kind]} ${costs(kind)}`).join('; ')}.`,
      ],
    }
  },
}

/** Median growth in percent, by round. */
const growthOf = (rounds: LiveCost['rounds'], kind: Kind): number =>
  middle(rounds.map((round) => (round[kind].measured.cpuTotal / round.none.measured.cpuTotal - 1) * 100))

const describeChanges = (rounds: LiveCost['rounds'], kind: Kind): string =>
  `${rounded(middle(rounds.map((round) => round[kind].changesPerEvent * 100)))} changes of membership in 100 events`

const segmentsDue: Scenario = {
  name: 'segments-due',
  title: 'segments: contacts that are due, alone and beside live events',
  async run(bench) {
    const contacts = bench.sizes.herd ?? bench.length(3000, 30_000)
    const herd = await measureHerd(bench, contacts)
    const beside = await measureBesideHerd(bench, contacts)
    return {
      checks: [
        atLeast(`${count(contacts)} due in one second settle`, herd.contacts / herd.seconds, HERD_RATE, '/s'),
        ...checksOfBeside(beside),
        memoryOf('due', herd),
      ],
      notes: [
        `Contacts that are due: ${rounded(herd.seconds)} s from the first instant, µs of CPU each: ${describeCpu(herd.cpu, 1)}.`,
      ],
    }
  },
}

function checksOfBeside({ alone, beside, during, work }: LiveBeside<Herd>): Check[] {
  const what = `live p99, ${RATE}/s, beside contacts that are due`
  const figure = `${rounded(during.p99)} ms of ${count(during.count)} (alone ${rounded(alone.latency.p99)} ms of ${count(alone.latency.count)})`
  return [
    { ...atMost(what, during.p99, MAX_BESIDE_MS, 'ms'), figure },
    atMost(`${what}, times that alone`, during.p99 / alone.latency.p99, MAX_BESIDE_TIMES, 'times'),
    only('beside live events they settle', `${rounded(work.contacts / work.seconds)} /s`),
    noError(alone),
    noError(beside),
  ]
}

const segmentsIdle: Scenario = {
  name: 'segments-idle',
  title: 'segments: idle, with many contacts that time will change later',
  async run(bench) {
    const rows = bench.sizes.clockRows ?? bench.length(20_000, 1_000_000)
    const { without, beside } = await measureClocks(bench, rows)
    return {
      checks: [only(`idle, ${count(rows)} clock rows`, describeIdle(beside))],
      notes: [`Idle without clock rows: ${describeIdle(without)}.`],
    }
  },
}

const segmentsComputed: Scenario = {
  name: 'segments-computed',
  title: 'segments: preview, and new ones until they are ready',
  async run(bench) {
    const { sizes, length } = bench
    const computed = await measureCompute(bench, {
      contacts: sizes.contacts ?? length(5000, 100_000),
      events: sizes.events ?? null,
      segments: sizes.segments ?? length(4, 20),
    })
    return {
      checks: [...checksOfComputed(computed), ...checksOfAll(computed), memoryOf('computation', computed)],
      notes: [describeAll(computed.all)],
    }
  },
}

function checksOfComputed({ contacts, previews, refused, many, few }: Computed): Check[] {
  const describe = ({ seconds, members }: Ready): string =>
    `${rounded(seconds)} s, ${count(members)} members (${count(Math.round(contacts / seconds))} contacts/s)`
  return [
    only(
      `preview, ${count(contacts)} contacts`,
      `${rounded(middle(previews))} s (the first ${rounded(previews[0] ?? 0)} s), ${refused} refused`,
    ),
    only(`new segment until ready, ${count(contacts)} contacts`, describe(many)),
    only(`new segment of few, ${count(contacts)} contacts`, describe(few)),
  ]
}

function checksOfAll({ contacts, all: { segments, members, seconds, logging } }: Computed): Check[] {
  const what = `${count(segments)} new segments at once, ${count(contacts)} contacts`
  const perSecond = (number: number) => count(Math.round(number / seconds))
  return [
    only(
      `${what}, until all are ready`,
      `${rounded(seconds)} s, ${count(members)} members (${perSecond(contacts)} contacts/s, ${perSecond(members)} members/s)`,
    ),
    only(`${what}, from then until the history has them`, `${rounded(logging)} s`),
  ]
}

const describeAll = ({ segments, creating, cpu }: ComputedTogether): string =>
  `${count(segments)} new segments at once: ${rounded(creating)} s to create them; s of CPU until ready: ` +
  `${describeCpu(cpu.ready, 1_000_000)}; from then until the history has them: ${describeCpu(cpu.logged, 1_000_000)}.`

/** A figure without a goal. */
const only = (goal: string, figure: string): Check => ({ goal, figure, met: null })

const memoryOf = (what: string, { observed }: { observed: Observed }): Check =>
  only(`memory of the workers, ${what}`, `${rounded(observed.memory.workers / 2 ** 20)} MB`)

const describeIdle = ({ statementsPerSecond, workers, postgres }: IdleCost): string =>
  `${rounded(statementsPerSecond)} statements/s; workers ${rounded(workers)} %, postgres ${rounded(postgres)} % of a core`

const describeCpu = (cpu: CpuByPart, unit: number): string =>
  PARTS.map((part) => `${part} ${rounded(cpu[part] / unit)}`).join(', ')

const count = (value: number): string => value.toLocaleString('en')

function middle(all: number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0
}

function medianOf(loads: LiveLoad[]): LiveLoad {
  const sorted = loads.toSorted((a, b) => a.measured.cpuTotal - b.measured.cpuTotal)
  const median = sorted[Math.floor(sorted.length / 2)]
  if (!median) throw new Error('Nothing was measured')
  return median
}

export const segments: readonly Scenario[] = [segmentsLive, segmentsDue, segmentsIdle, segmentsComputed]
