/** Applied once and in order, whichever process dies in between (design, promises 2, 3 and 6). */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Redis, connectRedis } from '../../src/stores/redis.ts'
import { consumePartition } from '../../src/stream/consume/consume.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { acquireLease } from '../../src/stream/leases/lease.ts'
import type { MicroBatch } from '../../src/stream/micro-batch.ts'
import { type StreamReader, createReader } from '../../src/stream/consume/stream-reader.ts'
import { openStack } from '../support/stack.ts'
import { type OwnRedis, startOwnRedis, startProxy } from './own-redis.ts'
import { type IngestLab, applyOnce, batchOf, businessOf, event, log, numbered, openIngestLab } from './ingest-lab.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterEach(() => lab.close())

const queueOnly = { wait: false }
const soon = { timeout: PATIENCE_MS, interval: 5 }
const expire = (partition: string) => stack.sql`update positions set lease_until = now() where partition = ${partition}`
const untilApplied = (on: IngestLab, count: number) =>
  vi.waitUntil(async () => (await on.applied()).length >= count, soon)

describe('a partition', () => {
  it('is applied in the order of arrival', async () => {
    const frontDoor = await lab.frontDoor()
    lab.worker('a')
    const business = businessOf('live-0')
    const ids = numbered('r', 500)
    const sent: Promise<unknown>[] = []
    for (const [at, id] of ids.entries()) {
      sent.push(frontDoor.submit(event(id, business)))
      if (at % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(sent)
    expect(await lab.applied()).toEqual(ids)
  })

  it('is read by the number of events, and entries stay complete', async () => {
    const frontDoor = await lab.frontDoor()
    const business = businessOf('live-0')
    for (const id of numbered('past-', 5)) await frontDoor.submit(batchOf(id, business, 400), queueOnly)
    await frontDoor.submit(batchOf('large', business, 1500), queueOnly)
    const sizes: number[] = []
    const apply = (batch: MicroBatch) => {
      const events = batch.requests.map(({ request }) => (request.kind === 'batch' ? request.items.length : 1))
      sizes.push(events.reduce((sum, count) => sum + count, 0))
      return applyOnce(stack.sql, batch)
    }
    lab.worker('a', { apply })
    await untilApplied(lab, 6)
    expect(sizes).toEqual([800, 800, 400, 1500])
  })

  it('is still read while a backlog is saved; what gathers meanwhile joins the next save', async () => {
    const frontDoor = await lab.frontDoor()
    const business = businessOf('live-0')
    // One read takes eight entries. After it, the reader knows that one save takes about a thousand events.
    for (const id of numbered('past-', 10)) await frontDoor.submit(batchOf(id, business, 1000), queueOnly)
    const lease = await acquireLease(stack.sql, 'backfill-0', 'a', 60_000)
    const real = createReader(() => lab.connect('read'), 'backfill-0')
    let delivered = 0
    const counting =
      (read: StreamReader['read']): StreamReader['read'] =>
      async (...asked) => {
        const entries = await read(...asked)
        delivered += entries.length
        return entries
      }
    const reader = { ...real, read: counting(real.read), readAtOnce: counting(real.readAtOnce) }
    const sizes: number[] = []
    const apply = async (batch: MicroBatch) => {
      const saved = sizes.push(batch.requests.length)
      if (saved === 8 || saved === 9) await vi.waitUntil(() => delivered > saved, soon)
      if (saved === 10)
        for (const id of numbered('few-', 20)) await frontDoor.submit(batchOf(id, business, 1), queueOnly)
      if (saved === 11) {
        await vi.waitUntil(() => delivered === 30, soon)
        for (const id of numbered('late-', 3)) await frontDoor.submit(batchOf(id, business, 1), queueOnly)
      }
      return applyOnce(stack.sql, batch)
    }
    const stopping = new AbortController()
    const deps = { sql: stack.sql, reader, redis: lab.redis, apply, log, beat: () => undefined }
    const ended = lease && consumePartition(deps, lease, stopping.signal)
    await untilApplied(lab, 33)
    stopping.abort()
    reader.close()
    expect(await ended).toBe('stopped')
    // Before it was read, one entry was assumed to fill a save; the others follow together.
    expect(sizes).toEqual([...numbered('', 10).map(() => 1), 1, 22])
  })

  it('loses nothing, and no time, to a cut connection of its blocked reader', async () => {
    const frontDoor = await lab.frontDoor()
    const worker = lab.worker('a')
    await vi.waitUntil(() => worker.running().length === 6, soon)
    const business = businessOf('live-0')
    await frontDoor.submit(event('before', business))
    await cutReaders(lab)
    const began = performance.now()
    expect((await frontDoor.submit(event('after', business))).kind).toBe('answered')
    expect(performance.now() - began).toBeLessThan(atLoad(2500))
    expect(await lab.applied()).toEqual(['before', 'after'])
  })
})

describe('a partition whose Redis hangs', () => {
  it('is released nevertheless', async () => {
    const proxy = await startProxy(new URL(stack.redisUrl))
    const redis = connectRedis(proxy.url, 'command')
    const reader = createReader(() => lab.connect('read'), 'live-0')
    const stopping = new AbortController()
    const lease = await acquireLease(stack.sql, 'live-0', 'a', 60_000)
    const frontDoor = await lab.frontDoor()
    await frontDoor.submit(event('r', businessOf('live-0')), queueOnly)
    try {
      await redis.ping()
      const apply = async (batch: MicroBatch) => {
        const outcome = await applyOnce(stack.sql, batch)
        proxy.stall()
        return outcome
      }
      const deps = { sql: stack.sql, reader, redis, apply, log, beat: () => undefined }
      const ended = lease && consumePartition(deps, lease, stopping.signal)
      await untilApplied(lab, 1)
      const began = performance.now()
      stopping.abort()
      reader.close()
      expect(await ended).toBe('stopped')
      expect(performance.now() - began).toBeLessThan(atLoad(2000))
    } finally {
      redis.disconnect()
      await proxy.close()
    }
  })
})

describe('a blocked reader', () => {
  it('whose link died silently gets another', async () => {
    const proxy = await startProxy(new URL(stack.redisUrl))
    const connections: Redis[] = []
    const connectReader = () => {
      connections.push(connectRedis(proxy.url, 'read'))
      return connections.at(-1) as Redis
    }
    const reader = createReader(connectReader, 'live-0', { blockMs: 50, graceMs: 500 })
    try {
      expect(await reader.read('0-0', 10)).toEqual([])
      proxy.stall()
      await expect(reader.read('0-0', 10)).rejects.toThrow('its connection was replaced')
      await lab.redis.xadd(streamKey('live-0'), '1-0', 'd', '{"frontDoor":"nobody","requests":[]}')
      expect(await reader.read('0-0', 10)).toMatchObject([{ streamId: '1-0' }])
      expect([connections.length, reader.connections()]).toEqual([2, 2])
    } finally {
      reader.close()
      await proxy.close()
    }
  })
})

describe('a closed reader', () => {
  it('reads no more, and opens nothing, though Redis hangs', async () => {
    const proxy = await startProxy(new URL(stack.redisUrl))
    let opened = 0
    const connectReader = () => {
      opened += 1
      return connectRedis(proxy.url, 'read')
    }
    const reader = createReader(connectReader, 'live-0', { blockMs: 50, graceMs: 2000 })
    expect(await reader.read('0-0', 10)).toEqual([])
    proxy.stall()
    reader.close()
    await expect(reader.read('0-0', 10)).rejects.toThrow('The reader was closed.')
    expect(opened).toBe(1)
    await proxy.close()
  })
})

async function cutReaders({ redis }: IngestLab): Promise<void> {
  const clients = String(await redis.client('LIST')).split('\n')
  const readers = clients.filter((line) => line.includes('name=sluice-read') && line.includes('cmd=xread'))
  const ids = readers.map((line) => /\bid=(\d+)/.exec(line)?.[1] ?? '')
  for (const id of ids) await redis.client('KILL', 'ID', id)
}

describe('what a worker left behind', () => {
  it('by dying after its commit is trimmed, never applied again', async () => {
    const hasty = await lab.frontDoor({ answerTimeoutMs: 300 })
    const business = businessOf('live-0')
    // Commits and then hangs: it neither answers nor trims.
    const dead = lab.worker('dead', {
      apply: async (batch, signal) => {
        await applyOnce(stack.sql, batch, 'dead')
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return { kind: 'stopped' }
      },
    })
    expect((await hasty.submit(event('committed', business))).kind).toBe('queued')
    await vi.waitUntil(async () => (await lab.applied()).length === 1, soon)
    expect(await lab.length('live-0')).toBe(1)
    await dead.stop()
    lab.worker('heir')
    await vi.waitUntil(async () => (await lab.length('live-0')) === 0, soon)
    const patient = await lab.frontDoor()
    expect((await patient.submit(event('next', business))).kind).toBe('answered')
    expect(await lab.applied()).toEqual(['committed', 'next'])
    await vi.waitUntil(async () => Object.keys(await lab.backlog('live-0')).length === 0, soon)
  })

  it('cannot be overwritten when it wakes up: the epoch fences it', async () => {
    const frontDoor = await lab.frontDoor()
    const business = businessOf('live-0')
    const paused = Promise.withResolvers<void>()
    const asleep = Promise.withResolvers<void>()
    const outcomes: string[] = []
    lab.worker('sleeper', {
      apply: async (batch) => {
        asleep.resolve()
        await paused.promise
        const outcome = await applyOnce(stack.sql, batch, 'sleeper')
        outcomes.push(outcome.kind)
        return outcome
      },
    })
    const submitted = frontDoor.submit(event('once', business))
    await asleep.promise
    const heir = lab.worker('heir')
    // Repeatedly, because the sleeper continues to renew its lease.
    await vi.waitUntil(async () => {
      await expire('live-0')
      return heir.running().includes('live-0')
    }, soon)
    expect((await submitted).kind).toBe('answered')
    paused.resolve()
    await vi.waitUntil(() => outcomes.length > 0, soon)
    expect(outcomes[0]).toBe('fenced')
    expect(await lab.applied()).toEqual(['once'])
    expect((await frontDoor.submit(event('twice', business))).kind).toBe('answered')
  })
})

describe('a poisoned entry', () => {
  it('is handed over to be kept, and stops no other request', async () => {
    const frontDoor = await lab.frontDoor()
    const business = businessOf('live-0')
    const batches: MicroBatch[] = []
    const key = streamKey('live-0')
    await frontDoor.submit(event('before', business), queueOnly)
    await lab.redis.xadd(key, '*', 'd', 'no JSON')
    await lab.redis.xadd(key, '*', 'x', 'y')
    const malformed = { ...event('bad', business), n: 7, receivedAt: 'today' }
    const good = { ...event('good', business), n: 8 }
    await lab.redis.xadd(key, '*', 'd', JSON.stringify({ frontDoor: 'nobody', requests: [malformed, good] }), 'w', 'no')
    lab.worker('a', {
      apply: (batch) => {
        batches.push(batch)
        return applyOnce(stack.sql, batch)
      },
    })
    expect((await frontDoor.submit(event('after', business))).kind).toBe('answered')
    expect(await lab.applied()).toEqual(['before', 'good', 'after'])
    expect(batches.flatMap((batch) => batch.poisoned)).toEqual([
      { streamId: expect.any(String) as string, reason: 'The entry is not a group of requests.', payload: 'no JSON' },
      { streamId: expect.any(String) as string, reason: 'The entry is not a group of requests.', payload: '["x","y"]' },
      {
        streamId: expect.any(String) as string,
        businessId: business,
        reason: 'The track request is malformed at /receivedAt: Expected integer.',
        payload: JSON.stringify(malformed),
      },
    ])
    await vi.waitUntil(async () => (await lab.length('live-0')) === 0, soon)
    expect(await lab.backlog('live-0')).toEqual({})
  })

  it('fails the request of its caller, if it names the caller', async () => {
    const frontDoor = await lab.frontDoor()
    const request = event('bad', businessOf('live-0'))
    const malformed = { ...request, fact: { ...request.fact, tags: 'none' } } as unknown as typeof request
    lab.worker('a')
    expect(await frontDoor.submit(malformed)).toEqual({ kind: 'answered', answer: { failed: true } })
  })
})

describe('a Redis', () => {
  let redis: OwnRedis
  let own: IngestLab
  beforeEach(async () => {
    redis = await startOwnRedis()
    own = await openIngestLab(stack.sql, redis.url)
  })
  afterEach(async () => {
    await own.close()
    await redis.close()
  })

  it('that dies under load and comes back repeats nothing, and keeps what was answered', async () => {
    const frontDoor = await own.frontDoor({ answerTimeoutMs: 1500 })
    own.worker('a')
    const business = businessOf('live-0')
    const kinds = new Map<string, string>()
    const send = async (id: string) => void kinds.set(id, (await frontDoor.submit(event(id, business))).kind)
    const callers = numbered('c', 10).map(async (caller) => {
      for (const id of numbered(`${caller}-`, 60)) {
        await send(id)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })
    await new Promise((resolve) => setTimeout(resolve, 100))
    await redis.kill()
    await redis.start()
    await Promise.all(callers)
    await vi.waitUntil(async () => (await own.length('live-0')) === 0, soon)
    const applied = await own.applied()
    expect(new Set(applied).size).toBe(applied.length)
    const promised = [...kinds].filter(([, kind]) => kind === 'answered' || kind === 'queued').map(([id]) => id)
    expect(promised.filter((id) => !applied.includes(id))).toEqual([])
    const refused = [...kinds].filter(([, kind]) => kind === 'unavailable').map(([id]) => id)
    expect(refused.filter((id) => applied.includes(id))).toEqual([])
    expect(promised.length).toBeGreaterThan(100)
  })

  it('that comes back empty and with its clock behind hides nothing that follows', async () => {
    const frontDoor = await own.frontDoor()
    own.worker('a')
    const business = businessOf('live-0')
    // As if the clock had been years ahead until now.
    await own.redis.xadd(streamKey('live-0'), '4000000000000-0', 'd', '{"frontDoor":"nobody","requests":[]}', 'w', '{}')
    expect((await frontDoor.submit(event('first', business))).kind).toBe('answered')
    const [row] = await stack.sql<{ position: string }[]>`select position from positions where partition = 'live-0'`
    expect(row?.position).toBe('4000000000000-1')
    await redis.kill()
    await redis.empty()
    await redis.start()
    await vi.waitUntil(() => frontDoor.isOpen(), soon)
    expect((await frontDoor.submit(event('second', business))).kind).toBe('answered')
    expect(await own.applied()).toEqual(['first', 'second'])
  })

  it('that comes back empty while a save is under way hides nothing that follows', async () => {
    const frontDoor = await own.frontDoor({ answerTimeoutMs: 3000 })
    const business = businessOf('live-0')
    const saving = Promise.withResolvers<void>()
    const lost = Promise.withResolvers<void>()
    own.worker('a', {
      apply: async (batch) => {
        saving.resolve()
        await lost.promise
        return applyOnce(stack.sql, batch)
      },
    })
    // Read before the loss, with an id above any that the restarted Redis assigns by itself.
    await own.redis.xadd(streamKey('live-0'), '4000000000000-0', 'd', '{"frontDoor":"nobody","requests":[]}', 'w', '{}')
    await saving.promise
    await redis.kill()
    await redis.empty()
    await redis.start()
    await vi.waitUntil(() => frontDoor.isOpen(), soon)
    const submitted = frontDoor.submit(event('after', business))
    await vi.waitUntil(async () => (await own.length('live-0')) > 0, soon)
    lost.resolve()
    expect((await submitted).kind).toBe('answered')
    expect(await own.applied()).toEqual(['after'])
  })

  it('that comes back as it was long ago repeats nothing of it', async () => {
    const frontDoor = await own.frontDoor()
    const business = businessOf('live-0')
    const ids = numbered('old-', 20)
    for (const id of ids) await frontDoor.submit(event(id, business), queueOnly)
    const dump = await own.redis.dumpBuffer(streamKey('live-0'))
    const worker = own.worker('a')
    await untilApplied(own, 20)
    await vi.waitUntil(async () => (await own.length('live-0')) === 0, soon)
    await worker.stop()
    await own.redis.restore(streamKey('live-0'), 0, dump ?? '', 'REPLACE')
    own.worker('b')
    expect((await frontDoor.submit(event('new', business))).kind).toBe('answered')
    expect(await own.applied()).toEqual([...ids, 'new'])
    await vi.waitUntil(async () => (await own.length('live-0')) === 0, soon)
  })
})
