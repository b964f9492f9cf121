// @long
/**
 * `@sluice/node` as npm packs it, in processes of every runtime: it never keeps a process alive, never crashes one, and
 * delivers once.
 */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildPackage } from '../../src/sdk/build-node.ts'
import {
  type Behaviour,
  cutJson,
  garbage,
  half,
  hang,
  type HostileService,
  huge,
  openHostileService,
  refuse,
  reset,
  resetAfter,
  slow,
} from '../sdk/node/hostile-service.ts'
import { RUNTIMES } from '../support/runtimes.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-runtimes-'))
let stub: HostileService

beforeAll(async () => {
  const installed = join(folder, 'node_modules/@sluice/node')
  await buildPackage(join(installed, 'dist'))
  cpSync(fileURLToPath(new URL('../../src/sdk/node/package.json', import.meta.url)), join(installed, 'package.json'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module","dependencies":{"@sluice/node":"*"}}')
})
afterAll(() => rmSync(folder, { recursive: true }))
beforeEach(async () => {
  stub = await openHostileService()
})
afterEach(() => stub.close())

/**
 * The machine's own Node, which may be as old as the package supports. `bun --bun` and npm put other versions before it
 * in PATH.
 */
const OWN_NODE = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((directory) => !/bun-node-|node_modules/.test(directory))
  .map((directory) => join(directory, 'node'))
  .find((file) => existsSync(file))
const PLACES: typeof RUNTIMES = { ...RUNTIMES, ...(OWN_NODE && { "the machine's node": [OWN_NODE] }) }

interface Ended {
  exitCode: number | null
  out: string
  err: string
}

/**
 * Runs a script that has a client, `sluice`, and an event, `event`. A process that does not end by itself fails the
 * test.
 */
function runScript(place: string, options: object, script: string): Promise<Ended> {
  const file = join(folder, `script-${Object.keys(PLACES).indexOf(place)}.js`)
  const all = JSON.stringify({ apiKey: 'sk_live_test', baseUrl: stub.url, ...options })
  writeFileSync(
    file,
    `import { Sluice } from '@sluice/node'
const sluice = new Sluice(${all})
const event = (number) => ({ event: 'e' + number, identity: { email: number % 5 + '@x.io' }, idempotencyKey: 'key-' + number })
${script}`,
  )
  const [command, ...words] = PLACES[place]!
  const child = spawn(command, [...words, file], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', (text) => (out += String(text)))
  child.stderr.on('data', (text) => (err += String(text)))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode) => resolve({ exitCode, out, err }))
  })
}

/** If a timer of the package kept a process alive, the process would run longer than a test may take. */
const PATIENT = { minRetryMs: 3_600_000, maxRetryMs: 3_600_000, maxAgeMs: 36_000_000 }
const TRACK = `for (let number = 0; number < 20; number++) sluice.track(event(number))\nconsole.log('through')`
const THROUGH = { exitCode: 0, out: 'through\n', err: '' }

describe.each(Object.keys(PLACES))('on %s', (place) => {
  it('a script that tracks ends by itself', async () => {
    expect(await runScript(place, PATIENT, TRACK)).toEqual(THROUGH)
  })

  it('and when the service is not there', async () => {
    expect(await runScript(place, { ...PATIENT, baseUrl: 'http://127.0.0.1:1' }, TRACK)).toEqual(THROUGH)
  })

  it('and when the service asks it to wait', async () => {
    stub.behave(() => refuse(429, { 'retry-after': '300' }))
    expect(await runScript(place, PATIENT, TRACK)).toEqual(THROUGH)
  })

  it('and when the service hangs, once the time of a try is over', async () => {
    stub.behave(() => hang)
    expect(await runScript(place, { ...PATIENT, timeoutMs: 300 }, TRACK)).toEqual(THROUGH)
  })

  it('a hundred calls at once, and a signal of its own for many batches, cause no warning of too many listeners', async () => {
    const script = `let warned = []
globalThis.process?.on('warning', (warning) => warned.push(String(warning)))
for (let number = 0; number < 100; number++) sluice.track(event(number))
const { signal } = new AbortController()
const events = Array.from({ length: 40 }, (_, number) => event(1000 + number))
await sluice.trackBatch(events, { chunkSize: 1, concurrency: 20, signal })
await sluice.flush()
await sluice.close()
console.log('warnings', warned.length)`
    expect(await runScript(place, { concurrency: 20 }, script)).toEqual({ exitCode: 0, out: 'warnings 0\n', err: '' })
  })

  it('what is awaited keeps it until it is done', async () => {
    stub.behave(({ number }) => {
      const first = number === 1 ? refuse(429, { 'retry-after': '1' }) : undefined
      return number > 12 && number % 3 === 0 ? refuse(503) : first
    })
    const script = `sluice.track(event(0))
await sluice.flush()
console.log('flushed')
console.log((await sluice.trackNow(event(1))).ok)
const events = Array.from({ length: 9 }, (_, number) => event(10 + number))
console.log((await sluice.trackBatch(events, { chunkSize: 2 })).settled)
sluice.track(event(2))
await sluice.close()
console.log('closed')`
    const ended = await runScript(place, { minRetryMs: 200, maxRetryMs: 200 }, script)
    expect(ended).toEqual({ exitCode: 0, out: 'flushed\ntrue\n9\nclosed\n', err: '' })
    expect(stub.recorded.length).toBe(12)
  })

  it('whatever the service does, it goes on, delivers once, warns of nothing and leaves nothing behind', async () => {
    const bad: (Behaviour | undefined)[] = [hang, reset, resetAfter, half, cutJson, slow, huge, garbage, refuse(500)]
    const worse = [refuse(503, {}, true), refuse(429), refuse(429, { 'retry-after': '0' }), refuse(502)]
    const all = [...bad, ...worse]
    stub.behave(({ number }) => (number % 2 ? all[((number - 1) / 2) % all.length] : undefined))
    const script = `const faults = []
globalThis.process?.on('unhandledRejection', (error) => faults.push(String(error)))
globalThis.process?.on('warning', (warning) => faults.push(String(warning)))
for (let number = 0; number < 40; number++) sluice.track(event(number))
const result = await sluice.trackBatch(Array.from({ length: 20 }, (_, number) => event(100 + number)), { chunkSize: 4, timeoutMs: 400 })
await sluice.close(50_000)
sluice.track(event(1000))
console.log(JSON.stringify({ settled: result.settled, faults }))`
    const impatient = { timeoutMs: 400, minRetryMs: 1, maxRetryMs: 20, maxTries: 1e9, concurrency: 4 }
    const ended = await runScript(place, impatient, script)
    expect(ended).toEqual({
      exitCode: 0,
      out: `${JSON.stringify({ settled: 20, faults: [] })}\n`,
      err: 'sluice: track was lost, perhaps more: Ended before delivery (closed)\n',
    })
    const keys = stub.recorded.map(({ idempotencyKey }) => idempotencyKey)
    expect([keys.length, new Set(keys).size]).toEqual([60, 60])
    await expect.poll(() => stub.connections(), { timeout: PATIENCE_MS }).toBe(0)
  })
})
