/** The answers to callers (decisions, "Answering from a stream"). */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { streamKey } from '../../src/stream/keys.ts'
import { openCuttingProxy } from '../faults/cutting-proxy.ts'
import { openStack } from '../support/stack.ts'
import { startLag, startProxy } from './own-redis.ts'
import { type IngestLab, answerOf, applyOnce, businessOf, event, numbered, openIngestLab } from './ingest-lab.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
})
afterEach(() => lab.close())

describe('a request', () => {
  it('is answered with its own answer, once it is applied', async () => {
    const frontDoor = await lab.frontDoor()
    lab.worker('a')
    const business = businessOf('live-0')
    const submitted = await Promise.all(numbered('r', 200).map((id) => frontDoor.submit(event(id, business))))
    expect(submitted).toEqual(numbered('r', 200).map((id) => ({ kind: 'answered', answer: answerOf(id) })))
    expect(await lab.applied()).toEqual(numbered('r', 200))
  })

  it('is answered through the front door that sent it', async () => {
    const frontDoors = [await lab.frontDoor(), await lab.frontDoor()]
    lab.worker('a')
    const business = businessOf('live-0')
    const answers = await Promise.all(frontDoors.map((frontDoor, at) => frontDoor.submit(event(`r${at}`, business))))
    expect(answers).toEqual([0, 1].map((at) => ({ kind: 'answered', answer: answerOf(`r${at}`) })))
  })

  it('that does not wait is queued right after the append', async () => {
    const frontDoor = await lab.frontDoor()
    expect(await frontDoor.submit(event('r', businessOf('live-0')), { wait: false })).toEqual({ kind: 'queued' })
    expect(await lab.length('live-0')).toBe(1)
  })
})

describe('when Redis is late to say that it took a request', () => {
  it('its answer is kept until then', async () => {
    const lag = await startLag(new URL(stack.redisUrl))
    const frontDoor = await lab.frontDoor({ publishUrl: lag.url })
    lag.hold()
    const submitted = frontDoor.submit(event('r', businessOf('live-0')))
    lab.worker('a')
    await vi.waitUntil(async () => (await lab.applied()).length === 1, { timeout: PATIENCE_MS })
    await sleep(100)
    lag.letAllThrough()
    expect(await submitted).toEqual({ kind: 'answered', answer: answerOf('r') })
    await lag.close()
  })

  it('and no answer came in time, it is queued nevertheless', async () => {
    const lag = await startLag(new URL(stack.redisUrl))
    const frontDoor = await lab.frontDoor({ publishUrl: lag.url, answerTimeoutMs: 50 })
    lag.hold()
    const submitted = frontDoor.submit(event('r', businessOf('live-0')))
    await sleep(150)
    lag.letAllThrough()
    expect(await submitted).toEqual({ kind: 'queued' })
    await lag.close()
  })
})

describe('an answer that does not come in time', () => {
  it('means queued while the entry waits in the stream', async () => {
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: 50 })
    expect(await frontDoor.submit(event('r', businessOf('live-0')))).toEqual({ kind: 'queued' })
  })

  it('is not waited for any longer because the clock was set back', async () => {
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: 50 })
    const submitted = frontDoor.submit(event('r', businessOf('live-0')))
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    expect(await submitted.finally(() => vi.useRealTimers())).toEqual({ kind: 'queued' })
  })

  it('means queued when a worker has applied it and its answer was lost', async () => {
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: atLoad(400) })
    lab.worker('a', {
      apply: async (batch) => {
        const outcome = await applyOnce(stack.sql, batch)
        return outcome.kind === 'applied' ? { kind: 'applied', answers: [] } : outcome
      },
    })
    expect(await frontDoor.submit(event('r', businessOf('live-0')))).toEqual({ kind: 'queued' })
    expect(await lab.applied()).toEqual(['r'])
    expect(await lab.length('live-0')).toBe(0)
  })

  it('means that the outcome is unknown when the entry is gone and was not applied', async () => {
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: atLoad(200) })
    const submitted = frontDoor.submit(event('r', businessOf('live-0')))
    await vi.waitUntil(async () => (await lab.length('live-0')) === 1, { timeout: PATIENCE_MS })
    await lab.redis.del(streamKey('live-0'))
    expect(await submitted).toEqual({ kind: 'outcome_unknown' })
  })
})

describe('a Redis that came back without the entry', () => {
  it('leaves the outcome unknown, also when workers have gone past it', async () => {
    const proxy = await openCuttingProxy(stack.redisUrl)
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: atLoad(300), publishUrl: proxy.url })
    const submitted = frontDoor.submit(event('r', businessOf('live-0')))
    await vi.waitUntil(async () => (await lab.length('live-0')) === 1, { timeout: PATIENCE_MS })
    proxy.cutAll()
    await lab.redis.del(streamKey('live-0'))
    await stack.sql`update positions set position = '99999999999999-0' where partition = 'live-0'`
    expect(await submitted).toEqual({ kind: 'outcome_unknown' })
    await proxy.close()
  })
})

describe('a link that died silently', () => {
  it.each(['publishUrl', 'subscribeUrl'])('is replaced before long: %s', async (link) => {
    const proxy = await startProxy(new URL(stack.redisUrl))
    try {
      const frontDoor = await lab.frontDoor({ answerTimeoutMs: 500, [link]: proxy.url })
      lab.worker('a')
      const business = businessOf('live-0')
      const isAnswered = async (id: string) => (await frontDoor.submit(event(id, business))).kind === 'answered'
      await vi.waitUntil(() => isAnswered('before'), { timeout: PATIENCE_MS, interval: 100 })
      proxy.stall()
      expect(await isAnswered('during')).toBe(false)
      await vi.waitUntil(() => isAnswered('after'), { timeout: PATIENCE_MS, interval: 100 })
    } finally {
      await proxy.close()
    }
  })
})

describe('closing', () => {
  it('refuses what comes, and waits for what is under way', async () => {
    const frontDoor = await lab.frontDoor()
    lab.worker('a')
    const business = businessOf('live-0')
    const submitted = frontDoor.submit(event('r', business))
    const closed = frontDoor.close()
    expect((await frontDoor.submit(event('late', business))).kind).toBe('unavailable')
    expect((await submitted).kind).toBe('answered')
    await closed
  })
})
