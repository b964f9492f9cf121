// @long
/** `start` is asked to stop before it is up, or cannot start: its output, and what it leaves behind. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { explainUnready } from '../../src/embedded/explain-unready.ts'
import { killRuns, pressCtrlC, type Run, runCli, untilStarted } from '../support/run-cli.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-stopped-'))
  // Postgres may run as a user of its own.
  await chmod(folder, 0o711)
})
afterAll(async () => {
  killRuns()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 })
})

/** Resolves once a file with such a name exists below DATA_DIR. */
const untilThere = (dataDir: string, name: RegExp) =>
  expect
    .poll(async () => (await readdir(dataDir).catch(() => [])).join('\n'), { timeout: PATIENCE_MS, interval: 5 })
    .toMatch(name)

/** A start says which step takes more than a moment. */
const withoutSteps = (run: Run) => run.output().replaceAll(/^\w.* (?:….*|done in [\d.]+ s)\n/gm, '')

async function expectStopped(stopped: Run, dataDir: string): Promise<void> {
  expect([await stopped.ended, withoutSteps(stopped)]).toEqual([0, expect.stringMatching(/^\s*Stopping: .*\s*$/)])
  // Once it stops, it says no more about the start.
  expect(stopped.output().trim()).toMatch(/Stopping: [^\n]*$/)
  expect((await readdir(dataDir)).filter((name) => /\.(pid|lock)$|^engines/.test(name))).toEqual([])
}

describe('a start that is asked to stop', () => {
  test.each([
    ['Ctrl-C', pressCtrlC],
    ['SIGTERM', (run: Run) => void run.child.kill('SIGTERM')],
  ])(
    'by %s while Postgres is made says so, and leaves nothing that stops the next one',
    { timeout: 90_000 },
    async (how, ask) => {
      // A retried test begins with an empty directory, too.
      const dataDir = join(folder, `${how}-${randomUUID()}`)
      const first = runCli({ DATA_DIR: dataDir }, 'start')
      await untilThere(dataDir, /^postgres/m)
      await ask(first)
      await expectStopped(first, dataDir)
      // Both leave the same behind, so one next start stands for two.
      if (how === 'SIGTERM') return
      const second = runCli({ DATA_DIR: dataDir }, 'start')
      await untilStarted(second)
      await pressCtrlC(second)
      expect(await second.ended).toBe(0)
    },
  )

  test('while a store is away does not wait for it any longer', async () => {
    const dataDir = join(folder, 'away')
    const redis = await openFadingRedis()
    const started = runCli({ DATA_DIR: dataDir, REDIS_URL: redis.url }, 'start')
    await untilThere(dataDir, /^front-door\.pid$/m)
    await redis.untilAsked()
    await pressCtrlC(started)
    await expectStopped(started, dataDir)
    redis.close()
  })

  test('while it looks for its stores ends at once', async () => {
    const dataDir = join(folder, 'looking')
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const started = runCli({ DATA_DIR: dataDir, DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/d` }, 'start')
    await once(silent, 'connection')
    await pressCtrlC(started)
    await expectStopped(started, dataDir)
    silent.close()
  })
})

/** Opens a Redis that answers OK to its first caller, whatever the command, and hangs up on all others. */
async function openFadingRedis() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    if (sockets.size > 1) return socket.destroy()
    socket.on('data', (bytes) => {
      const commands = bytes.toString().match(/^\*\d+\r\n/gm) ?? []
      socket.write('+OK\r\n'.repeat(commands.length))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `redis://:secret@127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves when others than the first have connected. */
    untilAsked: () => expect.poll(() => sockets.size, { timeout: PATIENCE_MS }).toBeGreaterThan(1),
    close: () => server.close(),
  }
}

const AWAY = {
  DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/db',
  REDIS_URL: 'redis://:secret@127.0.0.1:1/0',
  CLICKHOUSE_URL: 'http://user:secret@127.0.0.1:1/db',
}
const AWAY_MESSAGE = {
  DATABASE_URL: 'Postgres (DATABASE_URL, 127.0.0.1:1) does not answer: ECONNREFUSED.',
  REDIS_URL: 'Redis (REDIS_URL, 127.0.0.1:1) does not answer: ECONNREFUSED.',
  CLICKHOUSE_URL: 'ClickHouse (CLICKHOUSE_URL, 127.0.0.1:1) does not answer: ECONNREFUSED.',
}
type Name = keyof typeof AWAY

describe('a store that is not there', () => {
  test.each<[command: string, named: Name[]]>([
    ['start', ['DATABASE_URL', 'REDIS_URL', 'CLICKHOUSE_URL']],
    ['migrate', ['DATABASE_URL', 'CLICKHOUSE_URL']],
    ['serve', ['DATABASE_URL']],
    ['workers', ['DATABASE_URL']],
  ])('is named by %s, without its password', { timeout: 120_000 }, async (command, named) => {
    const refused = runCli({ DATA_DIR: join(folder, command), ...AWAY }, command)
    expect(await refused.ended).toBe(1)
    const lines = withoutSteps(refused).trim().split('\n')
    expect(lines).toEqual(named.map((name) => expect.stringContaining(AWAY_MESSAGE[name]) as string))
    expect(refused.output()).not.toContain('secret')
  })

  test('is the only one named, before any engine is started', async () => {
    const dataDir = join(folder, 'alone')
    const refused = runCli({ DATA_DIR: dataDir, REDIS_URL: AWAY.REDIS_URL }, 'start')
    expect(await refused.ended).toBe(1)
    expect(refused.output()).toBe(
      `Waiting for your own stores to answer …\n${AWAY_MESSAGE.REDIS_URL} Start it, or correct REDIS_URL.\n`,
    )
    expect(await readdir(dataDir)).toEqual([])
  })
})

test.each(['', 'below'])('a DATA_DIR that is not a directory is reported as such: file/%s', async (below) => {
  const file = join(folder, `file${below}`)
  await writeFile(file, '')
  const refused = runCli({ DATA_DIR: join(file, below) }, 'start')
  expect(await refused.ended).toBe(2)
  expect(refused.output()).toBe(`DATA_DIR must be a directory, not "${join(file, below)}"\n`)
})

describe('the reasons for not being ready', () => {
  test('list stores before partitions, in words', () => {
    const reasons = ['workers: no worker has live-0', 'redis: not reachable', 'clickhouse: not reachable']
    const issues = reasons.map((message) => ({ path: '', message }))
    const body = { success: false, message: `Not ready: ${reasons.join('; ')}`, error: { code: 'unavailable', issues } }
    expect(explainUnready(JSON.stringify(body))).toEqual([reasons[1], reasons[2], reasons[0]])
  })

  test.each([
    ['ingest-0 has reported nothing yet\n', ['ingest-0 has reported nothing yet']],
    ['no answer', ['no answer']],
    ['{"message":"Something went wrong on our side."}', ['Something went wrong on our side.']],
  ])('are taken as they are from %j', (body, reasons) => {
    expect(explainUnready(body)).toEqual(reasons)
  })
})
