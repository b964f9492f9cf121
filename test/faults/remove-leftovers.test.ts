import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runtimeCommand } from '../../src/embedded/processes/run-engine.ts'
import { isBelow } from './processes.ts'
import { createRunFolder, keepRunFolder, removeLeftovers } from './remove-leftovers.ts'

let parent: string
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sluice-leftovers-'))
})
afterAll(async () => {
  await removeLeftovers(parent)
  await rm(parent, { recursive: true, force: true })
})

/** Resolves with the folder that the run left. */
async function leaveDeadRun(): Promise<string> {
  const [command = '', ...args] = runtimeCommand(new URL('die-with-engines.ts', import.meta.url), [parent])
  const child = spawn(command, args, { stdio: 'inherit' })
  const [, signal] = (await once(child, 'exit')) as [number | null, string]
  expect(signal).toBe('SIGKILL')
  const [name = ''] = (await readdir(parent)).filter((one) => one.startsWith(`sluice-faults-${child.pid}-`))
  return join(parent, name)
}

it('ends the processes that a killed run left, frozen ones too, and touches nothing of a live run', async () => {
  const mine = await createRunFolder(parent)
  await mkdir(join(parent, 'sluice-faults-other'))
  const dead = await leaveDeadRun()
  const frozen = Number(await readFile(join(dead, 'frozen.pid'), 'utf8'))
  // The running engine notices the death of its parent and ends.
  while ((await readdir(dead)).includes('awake.pid')) await sleep(20)
  expect(await isBelow(frozen, dead)).toBe(true)

  expect(await removeLeftovers(parent)).toEqual([dead])
  expect(await isBelow(frozen, dead)).toBe(false)
  expect((await readdir(parent)).map((name) => join(parent, name)).toSorted()).toEqual(
    [mine, join(parent, 'sluice-faults-other')].toSorted(),
  )
  expect(await removeLeftovers(parent)).toEqual([])
})

it('leaves a folder that was kept, and a process that has the number of one of the dead run', async () => {
  const dead = await leaveDeadRun()
  await keepRunFolder(dead)
  await removeLeftovers(parent)
  expect(await readdir(dead)).toContain('awake.log')

  const stranger = join(parent, 'elsewhere')
  await mkdir(stranger)
  const child = spawn('sleep', ['600'], { cwd: stranger })
  const number = /-(\d+)-/.exec(dead)?.[1] ?? ''
  const other = await mkdtemp(join(parent, `sluice-faults-${number}-`))
  await writeFile(join(other, 'redis.pid'), String(child.pid))
  expect(await removeLeftovers(parent)).toEqual([other])
  expect(await isBelow(child.pid ?? 0, stranger)).toBe(true)
  child.kill()
})
