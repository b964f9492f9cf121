// @long
/** `start` is killed and started again at once: everything that the first one left is removed, whatever its state. */
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { runsIn, signalIfAlive } from '../../src/embedded/processes/stop-leftover.ts'
import { killRuns, pressCtrlC, type Run, runCli, untilStarted } from '../support/run-cli.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const FOLDERS: Record<string, string> = {
  redis: 'redis',
  postgres: 'postgres',
  clickhouse: 'clickhouse',
  'front-door': '.',
  workers: '.',
}
const NAMES = Object.keys(FOLDERS)

let folder: string
let dataDir: string
let running: Run
// With this LEASE_MS a start under another name would wait for ten minutes for the partitions.
const start = () => runCli({ DATA_DIR: dataDir, LEASE_MS: '600000' }, 'start')
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-killed-'))
  await chmod(folder, 0o711)
  dataDir = join(folder, 'data')
  running = start()
})
afterAll(async () => {
  if (isRunning()) await pressCtrlC(running)
  await running.ended
  killRuns()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 })
})

const readPid = async (name: string) => Number(await readFile(join(dataDir, `${name}.pid`), 'utf8'))
const works = (name: string, pid: number) => runsIn(pid, join(dataDir, FOLDERS[name] ?? ''))

const isRunning = () => running.child.exitCode === null && running.child.signalCode === null

/**
 * Kills the start and all its processes. The watchdogs remove the pid files immediately, so the files are read before.
 */
async function killAll(): Promise<void> {
  const pids = await Promise.all(NAMES.map(readPid))
  running.child.kill('SIGKILL')
  for (const pid of pids) signalIfAlive(pid, 'SIGKILL')
  await running.ended
}

// A test that failed halfway leaves no service running, and the next one needs one.
beforeEach(async () => {
  if (isRunning()) return
  running = start()
  await untilStarted(running)
})

async function killAndStart(): Promise<void> {
  running.child.kill('SIGKILL')
  await running.ended
  running = start()
  await untilStarted(running)
}

test('starts', async () => {
  await vi.waitUntil(() => running.output().includes('Ctrl-C stops it all'), { timeout: PATIENCE_MS })
})

test
  .runIf(process.platform === 'linux')
  .each([[[]], [['redis', 'workers', 'clickhouse']], [['postgres', 'front-door']]])(
  'starts at once while %j stand still, and each pid file names what runs',
  async (frozen) => {
    const before = await Promise.all(NAMES.map(readPid))
    for (const name of frozen) process.kill(await readPid(name), 'SIGSTOP')
    await killAndStart()
    // Long enough for a watchdog of the first start to remove a file.
    await sleep(200)
    for (const [at, name] of NAMES.entries()) {
      expect(await works(name, before[at] ?? 0), `${name} of the killed start`).toBe(false)
      expect(await works(name, await readPid(name)), name).toBe(true)
    }
    expect((await readdir(dataDir)).filter((name) => name.endsWith('.pid'))).toHaveLength(NAMES.length)
  },
)

test('the workers keep their name, and have their partitions back without waiting', async () => {
  const taken = async () => [
    ...(await readFile(join(dataDir, 'workers.log'), 'utf8')).matchAll(/acquired a partition/g),
  ]
  const name = await readFile(join(dataDir, 'worker-name'), 'utf8')
  const before = (await taken()).length
  await killAll()
  running = start()
  await untilStarted(running)
  expect(await readFile(join(dataDir, 'worker-name'), 'utf8')).toBe(name)
  expect((await taken()).length).toBeGreaterThan(before)
})
