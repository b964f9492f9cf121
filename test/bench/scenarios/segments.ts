import { type IdleCost, measureClocks } from '../segments/measure-clocks.ts'
import { type Computed, type Ready, measureCompute } from '../segments/measure-compute.ts'
import { type Herd, measureHerd } from '../segments/measure-herd.ts'
import { type LiveCost, SEGMENTS, measureLive } from '../segments/measure-live.ts'
import { PARTS } from '../stack.ts'
import { type Check, type Scenario, atLeast, atMost, noError, rounded } from './scenario.ts'

const MAX_GROWTH_PERCENT = 10
const HERD_RATE = 15_000

export const segments: Scenario = {
  name: 'segments',
  title: 'segments: live events, contacts that are due, idle clocks, preview and computation',
  async run(bench) {
    const { sizes, length } = bench
    const live = await measureLive(bench)
    const herd = await measureHerd(bench, sizes.herd ?? length(3000, 30_000))
    const clockRows = sizes.clockRows ?? length(20_000, 1_000_000)
    const clocks = await measureClocks(bench, clockRows)
    const computed = await measureCompute(bench, sizes.contacts ?? length(5000, 100_000), sizes.events ?? null)
    return {
      checks: [
        ...checkLive(live),
        atLeast(`${count(herd.contacts)} due in one second settle`, herd.contacts / herd.seconds, HERD_RATE, '/s'),
        only(`idle, ${count(clockRows)} clock rows`, describeIdle(clocks.beside)),
        ...checksOfComputed(computed),
        only('memory of the workers', describeMemory(live, herd, computed)),
      ],
      measured: { 'no segment': live.without, [`${count(SEGMENTS)} segments`]: live.within },
      notes: [
        `µs an event by round, without and with segments: ${live.rounds.map((pair) => pair.map(rounded).join(' and ')).join('; ')}.`,
        `Contacts that are due: ${rounded(herd.seconds)} s from the first instant, µs of CPU each: ${describeCpu(herd)}.`,
        `Idle without clock rows: ${describeIdle(clocks.without)}.`,
      ],
    }
  },
}

function checkLive({ without, within, rounds }: LiveCost): Check[] {
  const growths = rounds.map(([before, after]) => (after / before - 1) * 100).toSorted((a, b) => a - b)
  const growth = growths[Math.floor(growths.length / 2)] ?? 0
  return [
    atMost(`CPU an event with ${count(SEGMENTS)} segments, 3 touched, grows`, growth, MAX_GROWTH_PERCENT, '%'),
    noError(without.load),
    noError(within.load),
  ]
}

/** A figure without a goal. */
const only = (goal: string, figure: string): Check => ({ goal, figure, met: null })

const describeIdle = ({ statementsPerSecond, workers, postgres }: IdleCost): string =>
  `${rounded(statementsPerSecond)} statements/s; workers ${rounded(workers)} %, postgres ${rounded(postgres)} % of a core`

function checksOfComputed({ contacts, previews, refused, many, few }: Computed): Check[] {
  const median = previews.toSorted((a, b) => a - b)[Math.floor(previews.length / 2)] ?? 0
  const describe = ({ seconds, members }: Ready): string =>
    `${rounded(seconds)} s, ${count(members)} members (${count(Math.round(contacts / seconds))} contacts/s)`
  return [
    only(
      `preview, ${count(contacts)} contacts`,
      `${rounded(median)} s (the first ${rounded(previews[0] ?? 0)} s), ${refused} refused`,
    ),
    only(`new segment until ready, ${count(contacts)} contacts`, describe(many)),
    only(`new segment of few, ${count(contacts)} contacts`, describe(few)),
  ]
}

/** Maximum memory, by the part of the scenario. */
function describeMemory({ without, within }: LiveCost, herd: Herd, computed: Computed): string {
  const highest = { live: within, 'live without segments': without, due: herd, computation: computed }
  return Object.entries(highest)
    .map(([what, { observed }]) => `${what} ${rounded(observed.memory.workers / 2 ** 20)} MB`)
    .join(', ')
}

const describeCpu = ({ cpu }: Herd): string => PARTS.map((part) => `${part} ${rounded(cpu[part])}`).join(', ')

const count = (value: number): string => value.toLocaleString('en')
