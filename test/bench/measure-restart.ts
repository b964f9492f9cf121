/**
 * Measures the downtime when `start`, or everything that it runs, is killed under load and restarted at once: from the
 * command to the first 200 for a recorded event. `bun test/bench/measure-restart.ts [--kills 20]`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { DemoKeys } from '../../src/embedded/demo-business.ts'
import { freePort, runtimeCommand } from '../../src/embedded/processes/run-engine.ts'

const CALLERS = 32
const LOAD_MS = 4000

const { values } = parseArgs({ options: { kills: { type: 'string', default: '20' }, help: { type: 'boolean' } } })
if (values.help) {
  console.log(
    'bun test/bench/measure-restart.ts [--kills 20]\n\nKills `start`, then everything it runs, this number of times each.',
  )
  process.exit(0)
}
const dataDir = mkdtempSync(join(tmpdir(), 'sluice-restart-'))
await chmod(dataDir, 0o711)
const port = await freePort()
const url = `http://127.0.0.1:${port}/api/sdk/track`

function start(): ChildProcess {
  const [command = '', ...args] = runtimeCommand(new URL('../../src/cli.ts', import.meta.url), ['start'])
  return spawn(command, args, { env: { ...process.env, DATA_DIR: dataDir, PORT: String(port) }, stdio: 'ignore' })
}

async function isRecorded(): Promise<boolean> {
  const { secretKey } = JSON.parse(readFileSync(join(dataDir, 'demo-keys.json'), 'utf8')) as DemoKeys
  const body = JSON.stringify({
    event: 'purchase',
    identity: { email: `${Math.floor(Math.random() * 100_000)}@example.com` },
    value: 5,
  })
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body })
  await response.text()
  // A response about a full bucket shows nothing about the workers.
  return response.status === 200
}

async function untilRecorded(): Promise<number> {
  const began = performance.now()
  while (!(await isRecorded().catch(() => false))) await sleep(10)
  return performance.now() - began
}

async function load(ms: number): Promise<void> {
  const until = performance.now() + ms
  const call = async () => {
    while (performance.now() < until) await isRecorded().catch(() => sleep(50))
  }
  await Promise.all(Array.from({ length: CALLERS }, call))
}

function killEverything(): void {
  for (const name of readdirSync(dataDir).filter((file) => file.endsWith('.pid'))) {
    const pid = Number(readFileSync(join(dataDir, name), 'utf8').split('\n')[0])
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has just ended.
    }
  }
}

async function liftRateLimit(): Promise<void> {
  const words = ['admin', 'business', 'update']
  const { businessId } = JSON.parse(readFileSync(join(dataDir, 'demo-keys.json'), 'utf8')) as DemoKeys
  const [command = '', ...args] = runtimeCommand(new URL('../../src/cli.ts', import.meta.url), [
    ...words,
    businessId,
    '--rate-limit',
    '1000000',
  ])
  const child = spawn(command, args, { env: { ...process.env, DATA_DIR: dataDir }, stdio: 'inherit' })
  await once(child, 'exit')
}

let child = start()
console.log(`first start: ${Math.round(await untilRecorded())} ms`)
await liftRateLimit()
for (const what of ['supervisor', 'everything']) {
  const silences: number[] = []
  for (let kill = 0; kill < Number(values.kills); kill += 1) {
    const loading = load(LOAD_MS)
    await sleep(LOAD_MS * (0.7 + Math.random() * 0.3))
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    if (what === 'everything') killEverything()
    await ended
    child = start()
    silences.push(await untilRecorded())
    console.log(what, Math.round(silences.at(-1) ?? 0))
    await loading
  }
  const sorted = silences.toSorted((a, b) => a - b).map(Math.round)
  console.log(
    `${what} killed: median ${sorted[sorted.length >> 1]} ms, longest ${sorted.at(-1)} ms of ${sorted.length}`,
  )
}
const ended = once(child, 'exit')
child.kill('SIGTERM')
await ended
rmSync(dataDir, { recursive: true, force: true })
