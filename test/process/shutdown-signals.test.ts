/** How a process reacts to signals that ask it to end. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { PATIENCE_MS } from '../support/at-load.ts'

const UNTIL_STOPPED = new URL('../../src/admin/stop-signal.ts', import.meta.url).href
/** A program that ends after its second line, or `busyMs` later. */
const program = (busyMs: number) => `
  import { createStopSignal } from '${UNTIL_STOPPED}'
  const { signal, end } = createStopSignal(60)
  const awake = setInterval(() => undefined, 1000)
  signal.addEventListener('abort', () => {
    console.log(signal.reason)
    setTimeout(() => (end(), clearInterval(awake)), ${busyMs})
  })
  console.log('ready')`

const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

async function start(busyMs: number) {
  const child = spawn(process.execPath, ['-e', program(busyMs)], { stdio: ['ignore', 'pipe', 'inherit'] })
  running.push(child)
  const lines: string[] = []
  child.stdout.on('data', (text) => lines.push(String(text).trim()))
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  await expect.poll(() => lines, { timeout: PATIENCE_MS }).toEqual(['ready'])
  return { child, lines, ended }
}

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('it ends in order, also when %s comes twice', async (name) => {
  const { child, lines, ended } = await start(300)
  child.kill(name)
  await sleep(20)
  child.kill(name)
  expect(await ended).toBe(0)
  expect(lines).toEqual(['ready', 'it was stopped'])
})

it('it ends at once when it is asked again later', async () => {
  const { child, ended } = await start(60_000)
  child.kill('SIGINT')
  await sleep(1100)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
})
