/** How the supervisor handles an engine that ends again and again, as on a full disk. */
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { keepRunning } from '../../src/embedded/processes/keep-running.ts'
import { environmentWithout } from '../../src/embedded/processes/engine-command.ts'
import { runEngine } from '../../src/embedded/processes/run-engine.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-keep-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Line {
  msg: string
  engine: string
  folder?: string
  lastWords?: string
}

/** Supervises an engine that ends at once with these words, until a file `room` exists. */
async function keep(name: string, words: string) {
  const lines: Line[] = []
  const starts: number[] = []
  const place = join(folder, name)
  await mkdir(place)
  const kept = await keepRunning({
    name,
    folder: place,
    log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as Line) }),
    async start() {
      starts.push(performance.now())
      const command = ['sh', '-c', `test -e room && exec sleep 600; echo "${words}"; exit 1`]
      const running = await runEngine({
        name,
        dataDir: folder,
        folder: place,
        command,
        environment: environmentWithout(),
        signal: 'TERM',
      })
      return { ...running, url: 'somewhere' }
    },
  })
  return { kept, lines, starts, place }
}

it('starts it again ever slower, says that its disk is full, and has it back once there is room', async () => {
  const { kept, lines, starts, place } = await keep('engine', 'PANIC: could not write: No space left on device')
  await vi.waitUntil(() => starts.length === 4, { timeout: PATIENCE_MS })
  const pauses = starts.slice(1).map((at, before) => at - (starts[before] ?? 0))
  // Half of each pause is random.
  for (const [at, least] of [100, 200, 400].entries()) expect(pauses[at]).toBeGreaterThan(least - 20)
  await vi.waitUntil(() => lines.length === 4, { timeout: PATIENCE_MS })
  expect(lines[0]).toMatchObject({
    engine: 'engine',
    folder: place,
    msg: expect.stringContaining('DISK IS FULL') as string,
  })
  await writeFile(join(place, 'room'), '')
  await vi.waitUntil(() => starts.length === 5, { timeout: PATIENCE_MS })
  await kept.stop()
  expect([starts.length, lines.length]).toEqual([5, 4])
})

it('reports no other exit as a full disk', async () => {
  const { kept, lines } = await keep('other', 'out of memory')
  await vi.waitUntil(() => lines.length > 0, { timeout: PATIENCE_MS })
  expect(lines[0]).toMatchObject({ msg: 'ended; starting it again', lastWords: 'out of memory' })
  await kept.stop()
})

it('does not wait for a restart when it is stopped', async () => {
  const ended = { exited: Promise.resolve(''), stop: () => Promise.resolve(), url: 'somewhere' }
  let starts = 0
  const kept = await keepRunning({
    name: 'engine',
    log: { error: () => undefined },
    start(signal) {
      starts += 1
      if (starts === 1) return Promise.resolve(ended)
      return new Promise((_, reject) => void once(signal, 'abort').then(() => reject(new Error('not wanted any more'))))
    },
  })
  await vi.waitUntil(() => starts === 2, { timeout: PATIENCE_MS })
  await kept.stop()
  expect(starts).toBe(2)
})
