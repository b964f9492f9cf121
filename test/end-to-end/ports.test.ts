/** An engine has the same port after every restart. */
import { once } from 'node:events'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEngines } from '../../src/embedded/engines.ts'
import { createLogger, type Logger } from '../../src/log.ts'

let folder: string
const warnings: unknown[] = []
const log: Logger = Object.assign(Object.create(createLogger({ level: 'silent', name: 'test' })) as Logger, {
  warn: (facts: unknown) => warnings.push(facts),
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-ports-'))
  await chmod(folder, 0o711)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Starts the engines, stops them, and returns their addresses. */
async function startOnce(...only: ('clickhouseUrl' | 'redisUrl')[]) {
  const { stop, clickhouseUrl, clickhouseAnalystUrl, redisUrl } = await startEngines(folder, { log, only, small: true })
  await stop()
  return { clickhouseUrl, clickhouseAnalystUrl, redisUrl }
}
const portOf = (url = '') => Number(new URL(url).port)

test('the ports and the passwords stay, for analysts too; one that another program has taken is replaced for good, and the log says so', async () => {
  const first = await startOnce('clickhouseUrl', 'redisUrl')
  expect(await startOnce('clickhouseUrl', 'redisUrl')).toEqual(first)
  expect(warnings).toEqual([])

  const was = portOf(first.redisUrl)
  const other = createServer().listen(was)
  await once(other, 'listening')
  const moved = await startOnce('clickhouseUrl', 'redisUrl')
  other.close()
  const port = portOf(moved.redisUrl)
  expect(port).not.toBe(was)
  expect(moved).toEqual({ ...first, redisUrl: moved.redisUrl })
  expect(warnings).toEqual([{ engine: 'redis', port, was }])
  expect((await startOnce('redisUrl')).redisUrl).toBe(moved.redisUrl)
})
