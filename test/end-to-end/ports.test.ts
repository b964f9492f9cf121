/** An engine is found at the same port after every restart. */
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startEngines } from '../../src/embedded/engines.ts'
import { createLogger, type Logger } from '../../src/log.ts'

let folder: string
const warnings: unknown[] = []
const log: Logger = Object.assign(Object.create(createLogger({ level: 'silent', name: 'test' })) as Logger, {
  warn: (facts: unknown) => warnings.push(facts),
})

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-ports-'))
  await chmod(folder, 0o711)
  warnings.length = 0
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const start = () => startEngines(folder, { log, only: ['clickhouseUrl', 'redisUrl'], small: true })
const portOf = (url = '') => Number(new URL(url).port)

test('the ports and the passwords stay, for analysts too', async () => {
  const first = await start()
  await first.stop()
  const second = await start()
  const { clickhouseUrl, clickhouseAnalystUrl, redisUrl } = second
  await second.stop()
  expect({ clickhouseUrl, clickhouseAnalystUrl, redisUrl }).toEqual({
    clickhouseUrl: first.clickhouseUrl,
    clickhouseAnalystUrl: first.clickhouseAnalystUrl,
    redisUrl: first.redisUrl,
  })
  expect(warnings).toEqual([])
})

test('a port that another program has taken is replaced for good, and the log says so', async () => {
  const first = await start()
  await first.stop()
  const was = portOf(first.clickhouseUrl)
  const other = createServer().listen(was)
  await once(other, 'listening')
  const second = await start()
  await second.stop()
  other.close()
  const port = portOf(second.clickhouseUrl)
  expect(port).not.toBe(was)
  expect(second.redisUrl).toBe(first.redisUrl)
  expect(warnings).toEqual([{ engine: 'clickhouse', port, was }])
  const third = await start()
  await third.stop()
  expect(portOf(third.clickhouseUrl)).toBe(port)
})
