import { expect, test } from 'vitest'
import type { Measured } from './measure.ts'
import { plotLatency } from './plot-latency.ts'
import { sumOf } from './read-groups.ts'
import { type Report, renderReport } from './render-report.ts'
import { atLeast, atMost } from './scenarios/scenario.ts'

const parts = { 'front-door': 1, workers: 2, redis: 3, postgres: 4, clickhouse: 5, start: 0 }
const latency = { count: 1, mean: 1, p50: 1.5, p95: 2, p99: 3, p999: 4, max: 5 }
const load = {
  startedAt: 0,
  sent: 1,
  answers: { 200: 1 },
  seconds: 1,
  inTime: 1,
  bySecond: [1],
  latency,
  refusals: latency,
  lateness: latency,
  cpuUs: 7,
  trace: [],
}
const measured: Measured = {
  load,
  loads: [load],
  events: 1,
  rate: 12_345,
  cpu: parts,
  cpuTotal: 15,
  cpuGenerator: 7,
  walBytesPerEvent: 1000,
  observed: { memory: parts, services: [3], streamEntries: 2, outboxRows: 1 },
  groups: { entry: 100, microBatch: 200, insert: 3000 },
  settleSeconds: 0.5,
}
const steps = { http: 2, redis: 1, postgres: 6, clickhouse: 1 }
const report: Report = {
  machine: {
    cpu: 'Chip',
    cores: 2,
    memoryBytes: 2 ** 33,
    system: 'Linux 6',
    disk: 'ext4 on /dev/vda',
    load: [0, 0, 0],
    versions: { bun: '1' },
    settings: {},
    startedAt: '2026-01-01T00:00:00Z',
  },
  quick: true,
  scenarios: [
    {
      name: 'saturation',
      title: 'as fast as it goes',
      seconds: 1,
      outcome: {
        checks: [atLeast('sustained', 12_345, 12_000, 'answers/s'), atMost('p99', 130, 120, 'ms')],
        measured: { '600 callers': measured },
        ratio: { value: 1.5, pipeline: 15, ceilings: { steps, sum: 10 } },
      },
    },
    { name: 'batch', title: 'many', seconds: 1, failure: 'Something broke' },
  ],
}

test('the report begins with the ratio, and lists each goal, met or not', () => {
  const text = renderReport(report)
  expect(text.split('\n')[2]).toContain('1.5 times the CPU that its ceilings need')
  expect(text.split('\n')[2]).toContain('goal at most 1.5: met')
  expect(text).toContain('| saturation | as fast as it goes | sustained ≥ 12,000 answers/s | 12,345 answers/s | met |')
  expect(text).toContain('| p99 ≤ 120 ms | 130 ms | **not met** |')
  expect(text).toContain('Something broke')
})

test('rows of a table are as long as its head', () => {
  const rows = renderReport(report).split('\n')
  for (const [at, row] of rows.entries()) {
    if (row.startsWith('|') && rows[at - 1]?.startsWith('|')) {
      expect(row.split('|').length).toBe(rows[at - 1]?.split('|').length)
    }
  }
})

test('a goal is met at its limit, and missed just past it', () => {
  expect([atMost('a', 3, 3, 'ms').met, atMost('a', 3.001, 3, 'ms').met]).toEqual([true, false])
  expect([atLeast('a', 3, 3, '/s').met, atLeast('a', 2.999, 3, '/s').met]).toEqual([true, false])
})

test('a metric is summed over its labels, and not taken for one with a longer name', () => {
  const text = 'a_total{x="1"} 2\na_total{x="2"} 3\na_total_more 7\nb 4\n# a_total 9'
  expect([sumOf(text, 'a_total'), sumOf(text, 'b'), sumOf(text, 'c')]).toEqual([5, 4, 0])
})

test('the plot has a line for each percentile', () => {
  const svg = plotLatency([
    { rate: 1000, p50: 1, p99: 10, p999: 100 },
    { rate: 2000, p50: 2, p99: 20, p999: 2000 },
  ])
  expect(svg.match(/<polyline/g)).toHaveLength(3)
  expect(svg).not.toContain('NaN')
})
