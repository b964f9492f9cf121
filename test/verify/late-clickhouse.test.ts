// @long
/** `admin verify` waits for a ClickHouse that starts late or is away for a while. */
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { type CuttingProxy, openCuttingProxy } from '../faults/cutting-proxy.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { makePeople, openVerifyLab, type People } from './verify-lab.ts'
import { useOpened } from '../support/use-opened.ts'

const lab = useOpened(openVerifyLab)
let people: People
let proxy: CuttingProxy
let clickhouse: ClickHouseClient
let said: string[]
beforeAll(async () => {
  people = await makePeople(lab)
  await lab.shipped()
})
beforeEach(async () => {
  proxy = await openCuttingProxy(lab.clickhouseUrl)
  clickhouse = connectClickHouse(proxy.url)
  said = []
})
afterEach(async () => {
  await clickhouse.close()
  await proxy.close()
})

interface Choices {
  repair?: boolean
  waitMs?: number
  signal?: AbortSignal
}

/** Compares through the proxy. */
function verify({ repair = false, waitMs = PATIENCE_MS, signal = new AbortController().signal }: Choices = {}) {
  const showStatus = (text: string) => void said.push(text)
  const deps = { clickhouse, sliceSize: 10, maxKept: 100, showStatus, waitMs, signal }
  return lab.verifyDirectly(deps, { repair, businessIds: [people.businessId] })
}

const WAITING = /^waiting for ClickHouse, which does not answer: \d+ s of \d+ s$/
const untilWaiting = () =>
  vi.waitFor(() => expect(said).toContainEqual(expect.stringMatching(WAITING)), { timeout: PATIENCE_MS })
const loseAnn = () => lab.damage(`alter table contact_snapshots delete where contact_id = '${people.ann}'`)

describe('a ClickHouse that is away', () => {
  test.each(['refuse', 'hang'] as const)('from the beginning (%s) is waited for, and repaired', async (how) => {
    await loseAnn()
    proxy.cut(how)
    const result = verify({ repair: true })
    if (how === 'refuse') await untilWaiting()
    else await new Promise((resolve) => setTimeout(resolve, 1000))
    proxy.mend()
    expect(await result).toMatchObject({ differing: 0, differences: [], repaired: { contacts: 1 } })
  })

  test.each([
    ['a list of tables', 'system.tables', 'command'],
    ['checksums of contacts', 'contact_snapshots', 'command'],
    ['checksums of contacts', 'contact_snapshots', 'reply'],
    ['views', 'contact_event_statistics', 'reply'],
  ] as const)('when it is asked for %s (%s, before its %s) is asked again', async (_what, text, before) => {
    await loseAnn()
    const cut = proxy.cutNext(text, before, PATIENCE_MS)
    const [result] = await Promise.all([verify({ repair: true }), cut])
    expect(result).toMatchObject({ differing: 0, differences: [], repaired: { contacts: 1 } })
    expect(said).toContainEqual(expect.stringMatching(WAITING))
  })

  test('while it repairs is waited for', async () => {
    await lab.stopShipping()
    await loseAnn()
    const result = verify({ repair: true })
    const isRequested = async () =>
      (await lab.sql`select from outbox where resend is not null and shipped_at is null`).length > 0
    await vi.waitUntil(isRequested, { timeout: PATIENCE_MS, interval: 5 })
    proxy.cut('refuse')
    await new Promise((resolve) => setTimeout(resolve, 1000))
    proxy.mend()
    expect(await result).toMatchObject({ differing: 0, differences: [], repaired: { contacts: 1 } })
    lab.startShipping()
  })

  test('without --repair is waited for, too', async () => {
    proxy.cut('refuse')
    const result = verify()
    await untilWaiting()
    proxy.mend()
    expect(await result).toMatchObject({ differing: 0, differences: [], repaired: null })
  })

  test('for longer than the limit ends the command, with what to do next', async () => {
    proxy.cut('refuse')
    const startedAt = performance.now()
    await expect(verify({ repair: true, waitMs: 1000 })).rejects.toMatchObject({
      code: 'clickhouse_away',
      message: expect.stringMatching(
        /^ClickHouse has not answered for \d+ s \(ECONN\w+\)\. Start it, or correct CLICKHOUSE_URL, then run the command again\./,
      ) as string,
    })
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(1000)
    proxy.mend()
    expect(await verify()).toMatchObject({ differing: 0 })
  })

  test('does not keep the command from being stopped', async () => {
    proxy.cut('refuse')
    const stopping = new AbortController()
    const result = verify({ signal: stopping.signal }).catch((error: unknown) => error)
    await untilWaiting()
    stopping.abort()
    expect(await result).toMatchObject({ code: expect.stringMatching(/^ECONN/) as string })
  })
})

test('a ClickHouse that answers with an error is not waited for', async () => {
  const url = new URL(lab.clickhouseUrl)
  url.password = 'wrong'
  const { exitCode, out, err } = await runAdminQuietly(['verify', '--wait', '1h'], {
    ...lab.config,
    clickhouseUrl: url.href,
  })
  expect([exitCode, out, err]).toEqual([3, expect.stringContaining('AUTHENTICATION_FAILED'), ''])
})
