import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Readiness } from '../../src/front-door/health/readiness.ts'
import { CACHE_MS, shareReadiness } from '../../src/front-door/health/share-readiness.ts'
import { runFrontDoor } from '../../src/front-door/run-front-door.ts'
import { type Stack, openStack } from '../support/stack.ts'
import { speakTo } from './http-client.ts'

function setUp() {
  const state = { ms: 0, isOpen: true }
  const checks: PromiseWithResolvers<Readiness>[] = []
  const check = vi.fn<(isOpen: boolean) => Promise<Readiness>>(() => {
    const asked = Promise.withResolvers<Readiness>()
    checks.push(asked)
    return asked.promise
  })
  const read = shareReadiness(
    check,
    () => state.isOpen,
    () => state.ms,
  )
  const end = (at: number, reason: string) => checks[at]?.resolve({ blocking: [reason], degraded: [] })
  return { state, checks, check, read, end }
}
const blockingOf = async (read: Promise<Readiness>) => (await read).blocking

describe('readiness', () => {
  it('is found once for all who ask at once, however long that takes', async () => {
    const { state, check, read, end } = setUp()
    const many = Array.from({ length: 100 }, read)
    state.ms = 10 * CACHE_MS
    many.push(read())
    end(0, 'a')
    expect(await Promise.all(many.map(blockingOf))).toEqual(many.map(() => ['a']))
    expect(check).toHaveBeenCalledTimes(1)
  })

  it('is repeated for a second from when it was asked for, no longer', async () => {
    const { state, check, read, end } = setUp()
    const first = read()
    state.ms = 600
    end(0, 'a')
    await first
    state.ms = CACHE_MS - 1
    expect(await blockingOf(read())).toEqual(['a'])
    expect(check).toHaveBeenCalledTimes(1)
    state.ms = CACHE_MS
    const second = read()
    end(1, 'b')
    expect(await blockingOf(second)).toEqual(['b'])
    expect(check).toHaveBeenCalledTimes(2)
  })

  it('that could not be found is looked for again after a second too', async () => {
    const { state, checks, check, read, end } = setUp()
    const first = read()
    checks[0]?.reject(new Error('no disk'))
    await expect(first).rejects.toThrow('no disk')
    state.ms = CACHE_MS - 1
    await expect(read()).rejects.toThrow('no disk')
    expect(check).toHaveBeenCalledTimes(1)
    state.ms = CACHE_MS
    const second = read()
    end(1, 'b')
    expect(await blockingOf(second)).toEqual(['b'])
  })

  it('changes at once when the submitter is closed, also in the middle of a check, and when it is open again', async () => {
    const { state, check, read, end } = setUp()
    const [open, , closed, again] = [read(), (state.isOpen = false), read(), read()]
    end(0, 'open')
    end(1, 'closed')
    expect([await blockingOf(open), await blockingOf(closed), await blockingOf(again)]).toEqual([
      ['open'],
      ['closed'],
      ['closed'],
    ])
    expect(await blockingOf(read())).toEqual(['closed'])
    state.isOpen = true
    const third = read()
    end(2, 'open again')
    expect(await blockingOf(third)).toEqual(['open again'])
    expect(check.mock.calls).toEqual([[true], [false], [true]])
  })
})

describe('a front door', () => {
  let stack: Stack
  beforeAll(async () => {
    stack = await openStack()
  })
  afterAll(() => stack.close())

  it('asks its stores no more often for a hundred strangers', async () => {
    let pings = 0
    const clickhouse = createServer((_, response) => {
      pings += 1
      response.end('1\n')
    })
    await new Promise<void>((listening) => void clickhouse.listen(0, '127.0.0.1', listening))
    const clickhouseUrl = `http://127.0.0.1:${(clickhouse.address() as AddressInfo).port}/default`
    const frontDoor = await runFrontDoor({ ...stack.config, clickhouseUrl })
    const before = pings
    const answers = await Promise.all(Array.from({ length: 100 }, () => speakTo(frontDoor.url)('GET', '/readyz')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]))
    expect(pings - before).toBeGreaterThan(0)
    // One ping, except on a machine that takes many seconds for all this.
    expect(pings - before).toBeLessThan(20)
    await frontDoor.close()
    clickhouse.closeAllConnections()
    clickhouse.close()
  })
})
