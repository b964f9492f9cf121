import { expect, test } from 'vitest'
import { composePurchases } from './against/import-history.ts'
import { compareRounds, median } from './against/ratios.ts'
import { renderAgainst } from './against/render-against.ts'

const MACHINE = { cpu: 'CPU', cores: 2, memoryBytes: 2 ** 30, system: 'Linux', disk: 'ext4', load: [0, 0, 0] }

test('the median of an even number of values is the mean of the two in the middle', () => {
  expect([median([3]), median([4, 1]), median([9, 1, 5]), median([8, 2, 4, 6])]).toEqual([3, 2.5, 5, 5])
})

test('a ratio is that of figures of the same round', () => {
  const rounds = [
    { today: { rate: 200, p99: 10 }, other: { rate: 100, p99: 20 } },
    { today: { rate: 50, p99: 30 }, other: { rate: 100, p99: 20 } },
    { today: { rate: 300, p99: 20 }, other: { rate: 100, p99: 20 } },
  ]
  expect(compareRounds(rounds)).toEqual([
    { figure: 'rate', today: 200, other: 100, median: 2, lowest: 0.5, highest: 3 },
    { figure: 'p99', today: 20, other: 20, median: 1, lowest: 0.5, highest: 1.5 },
  ])
})

test('a figure that one build lacks, or that is 0, is left out', () => {
  const rounds = [{ today: { rate: 1, wal: 2, cpu: 0 }, other: { rate: 2, cpu: 0 } }]
  expect(compareRounds(rounds).map(({ figure }) => figure)).toEqual(['rate'])
})

test('the report has a row per figure, with the spread', () => {
  const ratios = [{ figure: 'rate, events/s', today: 3000, other: 2000, median: 1.5, lowest: 1.4, highest: 1.61 }]
  const machine = { ...MACHINE, versions: { bun: '1' }, settings: {}, startedAt: '2026-01-01T00:00:00.000Z' }
  const comparisons = [{ name: 'track', title: 'single', ratios }]
  expect(renderAgainst(machine, { today: 'aaaa', other: 'bbbb', rounds: 3, comparisons })).toContain(
    '| track: single | rate, events/s | 3,000 | 2,000 | **1.5** | 1.4 to 1.61 |',
  )
})

test('the purchases are of as many customers as said, with one row each at least', () => {
  const rows = composePurchases(69_659).trimEnd().split('\n').slice(1)
  expect(rows).toHaveLength(69_659)
  expect(new Set(rows.map((row) => row.split(',')[0])).size).toBe(23_570)
  expect(rows.filter((row) => !/^\d+,199[78]-\d\d-\d\d,[1-5],\d+\.\d\d$/.test(row))).toEqual([])
})
