// @long
/** `admin partitions`, run by an operator while the service is in use. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { partitionOf } from '../../src/stream/partitions/partition-of.ts'
import { readPartitionMap } from '../../src/stream/partitions/partition-map.ts'
import { TIME_ZONES_VERSION } from '../../src/rules/time/zones.ts'
import { runWorkers } from '../../workers/main.ts'
import { type Answer, ASYNC, speakTo } from '../front-door/http-client.ts'
import { type Service, openService } from '../support/service.ts'
import { type Stack, type TestBusiness, createBusiness, openStack } from '../support/stack.ts'
import { runAdminQuietly } from './run-admin.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

describe('the partitions of a service in use', () => {
  let service: Service
  let tenants: TestBusiness[]
  beforeAll(async () => {
    service = await openService()
    tenants = await Promise.all([1, 2, 3, 4].map(() => createBusiness(service.sql)))
  })
  afterAll(() => service.close())

  const admin = (command: string) => runAdminQuietly(command.split(' '), service.config)
  const eventsOf = async ({ businessId }: TestBusiness) => {
    const [row] = await service.sql<{ count: number }[]>`
      select coalesce(sum(count), 0)::int as count from event_statistics where business_id = ${businessId}`
    return row?.count
  }

  test('the number goes up and down, and every event is recorded once', async () => {
    const speak = speakTo(service.url)
    let stopped = false
    const unexpected: Answer[] = []
    const isRefused = ({ status, body }: Answer) => status === 503 && body.error.code === 'unavailable'
    /** Sends until it is stopped. Resolves with the number of events that were accepted. */
    const call = async ({ secretKey: key }: TestBusiness, path: string, events: number): Promise<number> => {
      let taken = 0
      for (let at = 0; !stopped; at += 1) {
        const one = { event: 'lesson_done', identity: { email: `p${at % 7}@x.example` } }
        const json = path.endsWith('batch') ? { events: Array.from({ length: events }, () => one) } : one
        const answer = await speak('POST', path, { key, json })
        if (answer.status === 200 || answer.status === 202) taken += events
        else if (isRefused(answer)) expect(answer.headers.get('retry-after')).toBe('1')
        else unexpected.push(answer)
      }
      return taken
    }
    const calls = tenants.map((tenant) =>
      Promise.all([call(tenant, '/api/sdk/track', 1), call(tenant, '/api/sdk/track/batch', 3)]),
    )
    for (const [from, to] of [
      [2, 5],
      [5, 1],
      [1, 3],
    ] as const) {
      const { exitCode, out, err } = await admin(`partitions set ${to} --json`)
      const lines = /Batches are refused until .*\n(.*\n)*Batches are accepted again\n$/
      expect([exitCode, err]).toEqual([0, expect.stringMatching(lines) as string])
      expect(JSON.parse(out)).toEqual({ partitions: to, previous: from, seconds: expect.any(Number) as number })
    }
    stopped = true
    const taken = (await Promise.all(calls)).map(([live, past]) => live + past)
    expect(unexpected).toEqual([])
    const deadline = Date.now() + 100_000
    const recorded = () => Promise.all(tenants.map(eventsOf))
    while ((await recorded()).join() !== taken.join() && Date.now() < deadline) await sleep(50)
    expect(await recorded()).toEqual(taken)
  })

  test('it is shown, and setting it again changes nothing', async () => {
    const { partitions } = await readPartitionMap(service.sql)
    const shown = await admin('partitions show --json')
    expect(JSON.parse(shown.out)).toMatchObject({ partitions, change: null })
    expect((await admin('partitions show')).out).toMatch(
      /^3 of each kind\n {2}PARTITION +POSITION +WORKER\n {2}backfill-0 +\d+-\d+ +test-/,
    )
    const again = await admin(`partitions set ${partitions}`)
    expect(again).toMatchObject({ exitCode: 0, out: 'There are already 3 partitions of each kind\n' })
    expect((await admin('partitions set 2')).out).toContain('If STREAM_PARTITIONS is set anywhere, change it to 2')
  })

  test('a change under way is shown by /readyz and by the command, and does not affect readiness', async () => {
    await service.sql`
      update partitioning set change_to = 9, closed = '{backfill}', change_until = now() + interval '50 seconds'`
    const answered = async () => {
      const { status, body } = await speakTo(service.url)('GET', '/readyz')
      return [status, body.data]
    }
    const named = [
      200,
      { degraded: ['partitions: changing to 9 of each kind; closed: backfill'], timeZones: TIME_ZONES_VERSION },
    ]
    // /readyz repeats its last answer for a second.
    await expect.poll(answered, { timeout: PATIENCE_MS }).toEqual(named)
    expect((await admin('partitions show')).out).toContain('changing to 9 (closed: backfill)')
    await service.sql`update partitioning set change_to = null, closed = '{}', change_until = null`
  })

  test('a front door and workers with another STREAM_PARTITIONS stop with what to do', async () => {
    const config = { ...service.config, streamPartitions: 7 }
    const words = 'Unset it, start Sluice, then run `admin partitions set 7`'
    await expect(runFrontDoor(config)).rejects.toThrow(words)
    await expect(runWorkers(config)).rejects.toThrow(words)
  })

  test('metrics list the partitions that there are', async () => {
    await admin('partitions set 3')
    expect((await speakTo(service.url)('GET', '/metrics')).text).toContain('stream_backlog_bytes{partition="live-2"}')
    await admin('partitions set 2')
    expect((await speakTo(service.url)('GET', '/metrics')).text).not.toContain(
      'stream_backlog_bytes{partition="live-2"}',
    )
  })
})

describe('without workers', () => {
  let stack: Stack
  beforeAll(async () => {
    stack = await openStack()
  })
  afterAll(() => stack.close())
  const admin = (command: string) => runAdminQuietly(command.split(' '), stack.config)

  test.each(['0', '257', '1.5', 'many'])('%s is not a number of partitions', async (number) => {
    const { exitCode, err } = await admin(`partitions set ${number}`)
    expect([exitCode, err]).toEqual([2, expect.stringContaining('N must be a whole number from 1 to 256') as string])
  })

  test.each([256, 1])('%i is one', async (number) => {
    expect((await admin(`partitions set ${number}`)).exitCode).toBe(0)
    const [row] = await stack.sql`select count(*)::int as count from positions`
    expect(row?.['count']).toBe(3 * number)
  })

  test('requests that wait keep the change from beginning', async () => {
    const frontDoor = await runFrontDoor(stack.config)
    const { businessId, secretKey: key } = await createBusiness(stack.sql)
    const json = { event: 'signup', identity: { email: 'ada@example.com' } }
    await speakTo(frontDoor.url)('POST', '/api/sdk/track', { key, json, headers: ASYNC })
    await frontDoor.close()
    const partition = partitionOf('live', businessId, 1)
    const { exitCode, out } = await admin('partitions set 2 --json')
    const message = `Requests are waiting, but no worker is running (1 in ${partition}). Start workers first`
    expect([exitCode, JSON.parse(out)]).toEqual([1, { error: { code: 'no_workers', message } }])
    // As if a worker that never finishes owned it.
    await stack.sql`update positions set owner = 'a', lease_until = now() + interval '1 minute'`
    const late = await admin('partitions set 2 --timeout 1')
    expect(late).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining(`not finished after 1 s; still waiting: 1 in ${partition}`) as string,
    })
    expect(await readPartitionMap(stack.sql)).toMatchObject({ partitions: 1, change: undefined })
    await stack.redis.del(streamKey(partition))
  })

  test('a Redis that is away is reported', async () => {
    const config = { ...stack.config, redisUrl: 'redis://127.0.0.1:1' }
    const { exitCode, err } = await runAdminQuietly(['partitions', 'set', '2'], config)
    expect([exitCode, err]).toEqual([1, 'Redis does not answer. Is Sluice running?\n'])
  })
})
