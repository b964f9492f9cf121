// @long
/** `admin verify` as an operator keeps it running: endless rounds, and death in the middle of a repair. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { eventFact, track } from '../support/facts.ts'
import { RUNTIMES } from '../support/runtimes.ts'
import { makePeople, openVerifyLab, type People, type VerifyLab } from './verify-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let lab: VerifyLab
let people: People
const running = new Set<ChildProcess>()
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL')
  await lab?.close()
})
// A new lab for each test: otherwise, the damage of another test would also be compared and repaired.
beforeEach(async () => {
  lab = await openVerifyLab()
  people = await makePeople(lab)
  await lab.shipped()
})

const admin = (words: string, config = lab.config) =>
  runAdminQuietly(['verify', ...words.split(' ').filter(Boolean)], config)

/** Starts the command in a process of its own. */
function start(...words: string[]): ChildProcess {
  const [command, ...args] = RUNTIMES['bun']!
  const { databaseUrl, redisUrl, clickhouseUrl } = lab
  const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
  const child = spawn(command, [...args, cli, 'admin', 'verify', ...words], {
    env: { ...process.env, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, CLICKHOUSE_URL: clickhouseUrl },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

test('runs in rounds, with a line of JSON for each, until it is asked to stop', async () => {
  const child = start('--every', '1s', '--json')
  const rounds: { agree?: boolean; stopped?: boolean; round?: number }[] = []
  createInterface(child.stdout!).on('line', (line) => rounds.push(JSON.parse(line) as (typeof rounds)[0]))
  await vi.waitFor(() => expect(rounds.length).toBeGreaterThanOrEqual(2), { timeout: PATIENCE_MS })
  expect(rounds[0]).toMatchObject({ round: 1, agree: true })
  await lab.damage(`alter table contact_snapshots delete where contact_id = '${people.ann}'`)
  await vi.waitFor(() => expect(rounds.at(-1)).toMatchObject({ agree: false }), { timeout: PATIENCE_MS })
  child.kill('SIGTERM')
  const [exitCode] = (await once(child, 'exit')) as [number]
  expect([exitCode, rounds.at(-1)]).toMatchObject([1, { stopped: true }])
  expect(await lab.verify('--repair')).toMatchObject({ agree: true })
})

test('in words, a round is printed only when its result changed', async () => {
  const child = start('--every', '1s')
  const lines: string[] = []
  createInterface(child.stdout!).on('line', (line) => lines.push(line))
  await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: PATIENCE_MS })
  expect(lines).toEqual([expect.stringMatching(/^\d{4}-\S+Z Postgres and ClickHouse agree/)])
  await lab.damage(`alter table contact_snapshots delete where contact_id = '${people.ann}'`)
  await vi.waitFor(() => expect(lines.join('\n')).toContain('snapshot 1'), { timeout: PATIENCE_MS })
  child.kill('SIGINT')
  expect((await once(child, 'exit')) as unknown[]).toEqual([1, null])
  expect(lines.at(-1)).toMatch(/^Stopped after \d+ rounds$/)
  await lab.verify('--repair')
})

test('killed in the middle of a repair, several times, and two at once: the result is still exact', async () => {
  await lab.stopShipping()
  for (const table of ['events', 'event_statistics', 'contact_snapshots', 'contact_redirects'])
    await lab.damage(`truncate table ${table}`)
  const waiting = async () =>
    (await lab.sql`select from outbox where resend is not null and shipped_at is null limit 1`).length
  for (let kill = 0; kill < 4; kill += 1) {
    const child = start('--repair')
    const ended = once(child, 'exit')
    await vi.waitFor(async () => expect((await waiting()) > 0 || child.exitCode !== null).toBe(true), {
      timeout: PATIENCE_MS,
    })
    await sleep(kill * 60)
    child.kill('SIGKILL')
    await ended
  }
  const both = await Promise.all([0, 1].map(async () => (await once(start('--repair'), 'exit'))[0] as number))
  expect(both).toEqual([0, 0])
  expect(await lab.verify()).toMatchObject({ exitCode: 0, agree: true })
  lab.startShipping()
})

test('a contact that waits for the shipper all the time is reported as not compared', async () => {
  await lab.stopShipping()
  await lab.pipeline.apply(track(people.businessId, eventFact('lesson', { email: 'ann@x.io' })))
  const only = `--business ${people.businessId}`
  const answer = await admin(only)
  expect(answer.exitCode).toBe(3)
  expect(answer.out).toContain('agree as far as they could be compared')
  expect(answer.out).toContain('1 contact or visitor waited for the shipper all the time')
  const result = await lab.verify('--business', people.businessId)
  expect(result).toMatchObject({ exitCode: 3, agree: null, notCompared: 1, stuck: 1, differing: 0 })
  lab.startShipping()
  await lab.shipped()
  expect(await lab.verify('--business', people.businessId)).toMatchObject({ exitCode: 0, agree: true, notCompared: 0 })
})
