import type { Bench } from '../bench.ts'
import { type LiveBeside, RATE } from '../live-beside.ts'
import { type Sink, openMailSink } from '../sends/sinks.ts'
import { type Burst, prepareBurst } from '../sends/measure-burst.ts'
import { measureCeiling } from '../sends/measure-ceiling.ts'
import { type EventToSend, measureBeside, measureEvents } from '../sends/measure-events.ts'
import { measureRest } from '../sends/measure-rest.ts'
import type { IdleCost } from '../segments/measure-clocks.ts'
import { PARTS } from '../stack.ts'
import { type Check, type Outcome, type Scenario, atLeast, atMost, noError, rounded } from './scenario.ts'

const POSTGRES_US = 150
const SENDS_RATE = 5000
const EVENT_TO_MESSAGE_MS = 1000
const MAX_P99_MS = 500

export const sends: Scenario = {
  name: 'sends',
  title: 'messages of campaigns by mail: many at once, after live events, beside them, and at rest',
  async run(bench) {
    const sink = await openMailSink(bench.stack)
    try {
      return await measure(bench, sink)
    } finally {
      await sink.close()
    }
  },
}

async function measure(bench: Bench, sink: Sink): Promise<Outcome> {
  const { sizes, length } = bench
  const many = sizes.sends ?? length(2000, 100_000)
  const waiting = sizes.waiting ?? length(20_000, 1_000_000)
  // Warms up, because a process that has run for a while has compiled and cached this work.
  await (await prepareBurst(bench, sink, Math.min(many, length(1000, 10_000)))).go()
  const burst = await (await prepareBurst(bench, sink, many)).go()
  const ceiling = await measureCeiling(bench, many)
  const events = await measureEvents(bench, sink)
  const beside = await measureBeside(bench, sink, many)
  const rest = await measureRest(bench, waiting)
  await sink.verify()
  return {
    checks: [
      atMost(`${count(many)} messages at once, CPU of Postgres each`, burst.cpu.postgres, POSTGRES_US, 'µs'),
      atLeast(`${count(many)} messages at once`, many / burst.seconds, SENDS_RATE, '/s'),
      only('Postgres, times what the rows alone cost it', rounded(burst.cpu.postgres / ceiling)),
      ...checksOfEvents(events),
      ...checksOfBeside(beside),
      only(`at rest, ${count(waiting)} enrolments wait`, describeIdle(rest.beside)),
    ],
    notes: [
      `A message, µs of CPU: ${describeCpu(burst)}. The rows alone: ${rounded(ceiling)} of Postgres.`,
      `Beside live events: ${rounded(beside.work.many / beside.work.seconds)} messages/s.`,
      `At rest, no enrolment waits: ${describeIdle(rest.without)}.`,
    ],
  }
}

/** A figure without a goal. */
const only = (goal: string, figure: string): Check => ({ goal, figure, met: null })

function checksOfEvents({ sent, p50, p99, load }: EventToSend): Check[] {
  const from = `from the event to the message, ${RATE} live events/s`
  return [
    atMost(`${from}, p99 of ${count(sent)}`, p99, EVENT_TO_MESSAGE_MS, 'ms'),
    only(`${from}, p50`, `${rounded(p50)} ms`),
    noError(load),
  ]
}

function checksOfBeside({ alone, beside, during }: LiveBeside<Burst>): Check[] {
  const live = `live p99, ${RATE}/s`
  return [
    atMost(`${live}, beside messages at once`, during.p99, MAX_P99_MS, 'ms'),
    only(`${live}, alone`, `${rounded(alone.latency.p99)} ms`),
    noError(beside),
  ]
}

const describeIdle = ({ statementsPerSecond, workers, postgres }: IdleCost): string =>
  `${rounded(statementsPerSecond)} statements/s; workers ${rounded(workers)} %, postgres ${rounded(postgres)} % of a core`

const describeCpu = ({ cpu }: Burst): string => PARTS.map((part) => `${part} ${rounded(cpu[part])}`).join(', ')

const count = (value: number): string => value.toLocaleString('en')
