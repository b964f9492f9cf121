/** What `bench --against` measures of both builds. */
import type { Bench, LoadOptions } from '../bench.ts'
import type { Traffic } from '../generator/traffic.ts'
import type { Measured } from '../measure.ts'
import { readProportionalSet } from '../process-tree.ts'
import { type Sink, openMailSink, openWebhookSink } from '../sends/sinks.ts'
import { prepareBurst } from '../sends/measure-burst.ts'
import { PARTS, type Stack } from '../stack.ts'
import { importHistory } from './import-history.ts'
import { type Figures, cpuFigures } from './figures.ts'

export interface Comparison {
  name: string
  title: string
  /** Prepares one build. */
  open(bench: Bench): Promise<Opened>
}

export interface Opened {
  /** Measures one round. `at` is its number; 0 is the round that is not counted. */
  measure(at: number): Promise<Figures>
  close?(): Promise<void>
}

export const COMPARISONS: Comparison[] = [
  {
    name: 'memory-start',
    title: 'all processes after the start, proportional set size',
    open: async (bench) => ({ measure: async () => memoryOf(bench) }),
  },
  ...[32, 256, 512].map((connections) =>
    load(
      `track-${connections}`,
      `single \`track\`, ${connections} callers`,
      (prefix) => ({ kind: 'typical', prefix }),
      (bench) => ({ pace: CLOSED, connections, seconds: bench.length(3, 15) }),
    ),
  ),
  load(
    'batch',
    '`track/batch` by 500, 8 parallel',
    (prefix) => ({ kind: 'batch', prefix, size: 500 }),
    (bench) => ({ pace: CLOSED, connections: 8, seconds: 600, requests: bench.length(20, 300) }),
  ),
  sendsBy('sends', 'messages that are due at once, by SMTP to a local server', openMailSink),
  sendsBy('sends-http', 'messages that are due at once, by HTTP to a local server that answers in 20 ms', (stack) =>
    openWebhookSink(stack, 20),
  ),
  {
    name: 'import',
    title: '`admin import` of 69,659 purchases of 23,570 customers',
    open: async (bench) => ({ measure: (at) => importHistory(bench, at) }),
  },
  {
    name: 'memory-end',
    title: 'all processes after the loads above, at rest',
    open: async (bench) => ({ measure: async () => memoryOf(bench) }),
  },
]

const CLOSED = { kind: 'closed' } as const

function load(
  name: string,
  title: string,
  trafficOf: (prefix: string) => Traffic,
  optionsOf: (bench: Bench) => LoadOptions,
): Comparison {
  return {
    name,
    title,
    async open(bench) {
      const callers = await bench.openCallers(trafficOf(`${name}-`))
      return { measure: async () => loadFigures(await bench.send([callers, optionsOf(bench)])) }
    },
  }
}

function sendsBy(name: string, title: string, openSink: (stack: Stack) => Promise<Sink>): Comparison {
  return {
    name,
    title,
    async open(bench) {
      const sink = await openSink(bench.stack)
      return {
        async measure() {
          const { many, seconds, cpu } = await (await prepareBurst(bench, sink, bench.length(1000, 20_000))).go()
          return { 'rate, messages/s': many / seconds, ...cpuFigures(cpu, 'a message') }
        },
        async close() {
          await sink.verify()
          await sink.close()
        },
      }
    },
  }
}

const loadFigures = (measured: Measured): Figures => ({
  'rate, events/s': measured.rate,
  'p50, ms': measured.load.latency.p50,
  'p99, ms': measured.load.latency.p99,
  ...cpuFigures(measured.cpu, 'an event'),
  'WAL, bytes an event': measured.walBytesPerEvent,
})

function memoryOf({ stack }: Bench): Figures {
  const bytes = readProportionalSet(stack.pids)
  const sizes = PARTS.map((part) => [`${part}, MB`, bytes[part] / 2 ** 20] as const)
  return { ...Object.fromEntries(sizes), 'together, MB': sizes.reduce((sum, [, size]) => sum + size, 0) }
}
