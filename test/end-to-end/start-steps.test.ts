// @long
/** What `start` says while it starts. */
import { appendFile, chmod, chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { printSteps, REPEAT_MS, SHOWN_AFTER_MS } from '../../src/embedded/start-steps.ts'
import { killRuns, pressCtrlC, runCli, untilStarted } from '../support/run-cli.ts'

describe('a step', () => {
  let lines: string[]
  let stopping: AbortController
  beforeEach(() => {
    vi.useFakeTimers()
    lines = []
    stopping = new AbortController()
  })
  afterEach(() => vi.useRealTimers())

  function begin() {
    const step = printSteps((line) => lines.push(line), stopping.signal)
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    let explain: (detail: string) => void = () => undefined
    const result = step('Starting Redis', (say) => {
      explain = say
      return promise
    })
    return { result, resolve, reject, explain }
  }

  test('that ends within a moment says nothing', async () => {
    const { result, resolve } = begin()
    await vi.advanceTimersByTimeAsync(SHOWN_AFTER_MS - 1)
    resolve('its result')
    expect(await result).toBe('its result')
    await vi.advanceTimersByTimeAsync(10 * REPEAT_MS)
    expect(lines).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('that takes longer is said while it runs, again and again, and when it ends', async () => {
    const { result, resolve, explain } = begin()
    await vi.advanceTimersByTimeAsync(SHOWN_AFTER_MS)
    expect(lines).toEqual(['Starting Redis …'])
    await vi.advanceTimersByTimeAsync(REPEAT_MS)
    explain('it loads its data')
    explain('it loads its data')
    await vi.advanceTimersByTimeAsync(REPEAT_MS)
    resolve('')
    await result
    expect(lines.slice(1)).toEqual([
      'Starting Redis … 11 s',
      'Starting Redis … 11 s (it loads its data)',
      'Starting Redis … 21 s (it loads its data)',
      'Starting Redis: done in 21.0 s',
    ])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('says what was known before it was shown', async () => {
    const { explain } = begin()
    explain('first')
    explain('second')
    await vi.advanceTimersByTimeAsync(SHOWN_AFTER_MS)
    expect(lines).toEqual(['Starting Redis … (second)'])
  })

  test('that fails passes its error on, and is not done', async () => {
    const { result, reject } = begin()
    const failure = result.catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(SHOWN_AFTER_MS)
    reject(new Error('no memory'))
    expect(await failure).toEqual(new Error('no memory'))
    expect(lines).toEqual(['Starting Redis …'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is silent once the start is asked to stop', async () => {
    const { result, resolve } = begin()
    await vi.advanceTimersByTimeAsync(SHOWN_AFTER_MS)
    stopping.abort()
    await vi.advanceTimersByTimeAsync(REPEAT_MS)
    resolve('')
    await result
    expect(lines).toEqual(['Starting Redis …'])
  })
})

describe('start', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-steps-'))
    // Postgres may run as a user of its own.
    await chmod(folder, 0o711)
  })
  afterAll(killRuns)
  afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 500 }))

  /** Makes the next start of Postgres recover from an archive that is slow, and empty. */
  async function recoverSlowly(cluster: string): Promise<void> {
    const settings = join(cluster, 'postgresql.auto.conf')
    await appendFile(settings, "restore_command = 'sleep 3; exit 1'\n")
    const { uid, gid } = await stat(settings)
    await writeFile(join(cluster, 'recovery.signal'), '', { mode: 0o600 })
    await chown(join(cluster, 'recovery.signal'), uid, gid)
  }

  test('says that it waits for a Postgres that recovers, and standard output has only what stays of use', async () => {
    const dataDir = join(folder, 'data')
    const first = runCli({ DATA_DIR: dataDir }, 'start')
    await untilStarted(first)
    await pressCtrlC(first)
    expect(await first.ended).toBe(0)
    await recoverSlowly(join(dataDir, 'postgres'))
    const second = runCli({ DATA_DIR: dataDir }, 'start')
    let out = ''
    second.child.stdout?.on('data', (part: Buffer) => (out += part.toString()))
    await untilStarted(second)
    expect(second.output()).toMatch(/^Starting Postgres … (?:\d+ s )?\(the database system is .*\)$/m)
    expect(second.output()).toMatch(/^Starting Postgres: done in [\d.]+ s$/m)
    expect(out).toMatch(/^Sluice \S+ runs at /)
    expect(out).not.toContain('…')
    await pressCtrlC(second)
    expect(await second.ended).toBe(0)
    expect(await readFile(join(dataDir, 'postgres.log'), 'utf8')).toContain('archive recovery complete')
  })
})
