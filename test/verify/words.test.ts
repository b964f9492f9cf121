/** The texts of `admin verify` that need no store. */
import { expect, test, vi } from 'vitest'
import { readPause, repeatRounds } from '../../src/admin/verify/repeat-rounds.ts'
import { readConfig } from '../../src/config.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'

const admin = (words: string) =>
  runAdminQuietly(['verify', ...words.split(' ').filter(Boolean)], readConfig({ LOG_LEVEL: 'silent' }))

test.each([
  ['--every 5', '--every must be'],
  ['--every 0s', '--every must be'],
  ['--every 8d', '--every must be'],
  ['--every 169h', '--every must be'],
  ['--every 10081m', '--every must be'],
  ['--wait 0s', '--wait must be'],
  ['--wait 169h', '--wait must be'],
  ['--wait soon', '--wait must be'],
  ['--business me', '--business must be'],
  ['--mend', "Unknown option '--mend'"],
  ['now', 'Unexpected argument "now"'],
])('refuses %s', async (words, message) => {
  const { exitCode, err } = await admin(words)
  expect([exitCode, err]).toEqual([2, expect.stringContaining(message)])
})

test.each([
  ['168h', 604_800_000],
  ['10080m', 604_800_000],
  ['1s', 1000],
])('a pause of %s is %i ms', (text, ms) => {
  expect(readPause(text)).toBe(ms)
})

test('explains itself', async () => {
  const { exitCode, out } = await admin('--help')
  expect(exitCode).toBe(0)
  for (const word of ['--repair', '--every 10m', '--wait 2m', '--business ID', 'OUTBOX_KEEP', 'Exit code'])
    expect(out).toContain(word)
})

test('a round with the same result as the one before is not printed', async () => {
  const showStatus = (agree: boolean) => ({
    json: { agree, differences: [] },
    text: `agree: ${agree}`,
    exitCode: agree ? 0 : 1,
  })
  const stopping = new AbortController()
  const reports = [true, true, false, false, true].map(showStatus)
  const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => true)
  const round = () => {
    const report = reports.shift()!
    if (reports.length === 0) setTimeout(() => stopping.abort())
    return Promise.resolve(report)
  }
  const last = await repeatRounds(round, 1, stopping.signal, false)
  const lines = write.mock.calls.map(([text]) => String(text).split(' ').slice(1).join(' '))
  write.mockRestore()
  expect(lines).toEqual(['agree: true\n', 'agree: false\n', 'agree: true\n'])
  expect(last).toMatchObject({ exitCode: 0, text: 'Stopped after 5 rounds' })
})
