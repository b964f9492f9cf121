import { pino } from 'pino'
import { expect, it } from 'vitest'
import { createLogThrottle } from '../../src/process/log-throttle.ts'

it('gives a hundred refusals a second their lines, and counts the others', () => {
  const logged: unknown[] = []
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  let now = 5000
  const mayTell = createLogThrottle(log, () => now)
  const ask = (times: number) => Array.from({ length: times }, mayTell).filter(Boolean).length
  expect(ask(100)).toBe(100)
  expect(ask(1)).toBe(0)
  now += 999
  expect(ask(7)).toBe(0)
  expect(logged).toEqual([])
  now += 1
  expect(ask(101)).toBe(100)
  expect(logged).toEqual([{ level: 30, leftOut: 8, msg: 'more log lines of one kind were left out' }])
  now += 5000
  expect(ask(1)).toBe(1)
  expect(logged).toHaveLength(2)
  now += 5000
  expect(ask(1)).toBe(1)
  expect(logged).toHaveLength(2)
})
