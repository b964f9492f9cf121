// @long
/**
 * From one version to the next while callers continue: `migrate`, then the workers, then the front doors
 * (docs/deploy.md, "Upgrade"). The next version is a copy of this one with another number, one more migration, and a
 * save with one more argument.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Stack, type TestBusiness, createBusiness, openStack } from '../support/stack.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const THIS = fileURLToPath(new URL('../..', import.meta.url))
const NEXT = mkdtempSync(join(tmpdir(), 'sluice-next-'))
let stack: Stack
let business: TestBusiness
const processes: ChildProcess[] = []

beforeAll(async () => {
  stack = await openStack({}, { ownClickHouse: true })
  business = await createBusiness(stack.sql)
  makeNextVersion()
})
afterAll(async () => {
  for (const child of processes) child.kill('SIGKILL')
  rmSync(NEXT, { recursive: true, force: true })
  await stack?.close()
})

function makeNextVersion(): void {
  for (const name of ['src', 'workers', 'sql', 'package.json'])
    cpSync(join(THIS, name), join(NEXT, name), { recursive: true })
  symlinkSync(join(THIS, 'node_modules'), join(NEXT, 'node_modules'))
  mkdirSync(join(NEXT, 'data'))
  edit('package.json', /"version": "[^"]+"/, '"version": "99.0.0"')
  // Not at the end: after an argument with a default, each needs one.
  edit(
    'sql/postgres/functions/save_changes.sql',
    'function save_changes(\n',
    'function save_changes(\n  p_next boolean,\n',
  )
  edit('src/contacts/save/save-parameters.ts', ') as saved`', ', p_next => true) as saved`')
  writeFileSync(join(NEXT, 'sql/postgres/9999_next.sql'), 'alter table contacts add column next_version boolean;\n')
}

function edit(name: string, from: string | RegExp, to: string): void {
  const file = join(NEXT, name)
  const before = readFileSync(file, 'utf8')
  const after = before.replace(from, to)
  expect(after).not.toBe(before)
  writeFileSync(file, after)
}

function run(folder: string, command: string, environment: Record<string, string> = {}): ChildProcess {
  const child = spawn(process.execPath, [join(folder, 'src/cli.ts'), command], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      DATA_DIR: join(NEXT, 'data'),
      HOST: '127.0.0.1',
      LOG_LEVEL: 'fatal',
      DATABASE_URL: stack.databaseUrl,
      REDIS_URL: stack.redisUrl,
      CLICKHOUSE_URL: stack.clickhouseUrl,
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  processes.push(child)
  return child
}

async function stop(child: ChildProcess): Promise<number | null> {
  const ended = once(child, 'exit') as Promise<[number | null]>
  child.kill('SIGTERM')
  return (await ended)[0]
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

const readiness = async (url: string): Promise<{ status: number; text: string }> => {
  const answer = await fetch(`${url}/readyz`).catch(() => undefined)
  return { status: answer?.status ?? 0, text: (await answer?.text()) ?? '' }
}
const isReady = (url: string) =>
  expect.poll(() => readiness(url), { timeout: PATIENCE_MS }).toMatchObject({ status: 200 })

async function openFrontDoor(folder: string): Promise<{ child: ChildProcess; url: string }> {
  const port = await freePort()
  return { child: run(folder, 'serve', { PORT: String(port), DRAIN_MS: '0' }), url: `http://127.0.0.1:${port}` }
}

/** Sends one event after another through the front door that is in use. */
function keepCalling(frontDoor: () => string) {
  const statuses: number[] = []
  let isOver = false
  const calling = (async () => {
    while (!isOver) {
      const answer = await fetch(`${frontDoor()}/api/sdk/track`, {
        method: 'POST',
        headers: { authorization: `Bearer ${business.secretKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ event: 'lesson', identity: { email: 'ada@example.com' } }),
      })
      statuses.push(answer.status)
    }
  })()
  return {
    statuses,
    async end() {
      isOver = true
      await calling
    },
  }
}

test('no call is refused during an upgrade, and each counts once', async () => {
  const [oldFrontDoor, oldWorkers] = [await openFrontDoor(THIS), run(THIS, 'workers')]
  await isReady(oldFrontDoor.url)
  let url = oldFrontDoor.url
  const calls = keepCalling(() => url)
  await expect.poll(() => calls.statuses.length, { timeout: PATIENCE_MS }).toBeGreaterThan(5)

  const migrated = run(NEXT, 'migrate')
  expect(await once(migrated, 'exit')).toEqual([0, null])
  // An answer is cached for a second.
  const isBehind = { status: 200, text: expect.stringContaining('the database is at 99.0.0') as string }
  await expect.poll(() => readiness(oldFrontDoor.url), { timeout: PATIENCE_MS }).toEqual(isBehind)
  const backwards = run(THIS, 'migrate')
  expect(await once(backwards, 'exit')).toEqual([1, null])

  const newWorkers = run(NEXT, 'workers')
  expect(await stop(oldWorkers)).toBe(0)
  const behind = calls.statuses.length
  await expect.poll(() => calls.statuses.length, { timeout: PATIENCE_MS }).toBeGreaterThan(behind + 5)
  const newFrontDoor = await openFrontDoor(NEXT)
  await isReady(newFrontDoor.url)
  url = newFrontDoor.url
  const changed = calls.statuses.length
  await expect.poll(() => calls.statuses.length, { timeout: PATIENCE_MS }).toBeGreaterThan(changed + 5)
  expect(await stop(oldFrontDoor.child)).toBe(0)
  await calls.end()

  expect(calls.statuses.filter((status) => status !== 200 && status !== 202)).toEqual([])
  const counted = async () => {
    const [row] = await stack.sql<{ count: number }[]>`
      select count from event_statistics where business_id = ${business.businessId} and event = 'lesson'`
    return row?.count
  }
  await expect.poll(counted, { timeout: PATIENCE_MS }).toBe(calls.statuses.length)
  expect(await stop(newFrontDoor.child)).toBe(0)
  expect(await stop(newWorkers)).toBe(0)
})
