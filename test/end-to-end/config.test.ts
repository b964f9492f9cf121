/** The environment as an operator may set it. */
import { expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'

test.each([
  ['90m', 5_400_000],
  ['7d', 604_800_000],
  ['99999d', 8_639_913_600_000],
  ['604800000ms', 604_800_000],
])('OUTBOX_KEEP of %s', (duration, ms) => {
  expect(readConfig({ OUTBOX_KEEP: duration }).outboxKeepMs).toBe(ms)
})

test.each(['for ever', '7', '-1d', '1.5h', '9999999d', '99999999h'])('not OUTBOX_KEEP=%s', (duration) => {
  expect(() => readConfig({ OUTBOX_KEEP: duration })).toThrow('OUTBOX_KEEP must be a duration')
})

test('tells all faults at once, and no address', () => {
  const faulty = { PORT: '70000', LOG_LEVEL: 'loud', DATABASE_URL: 'mysql://user:secret@host' }
  expect(() => readConfig(faulty)).toThrow(/PORT[^]*DATABASE_URL[^]*LOG_LEVEL/)
  expect(() => readConfig(faulty)).not.toThrow('secret')
})
