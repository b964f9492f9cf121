/** There is one supervisor per data directory, however many start at the same moment. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { lockDataDir } from '../../src/embedded/processes/lock-data-dir.ts'
import { freePort } from '../../src/embedded/processes/run-engine.ts'

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))))

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-held-'))
  folders.push(folder)
  return folder
}

test.each([
  ['a new directory', async () => undefined],
  [
    'one whose holder was killed',
    async (folder: string) => writeFile(join(folder, `start.${await freePort()}.${randomUUID()}.lock`), ''),
  ],
])('one of many processes that start at once holds %s', async (_what, prepare) => {
  for (let round = 0; round < 8; round += 1) {
    const folder = await newFolder()
    await prepare(folder)
    const held = await Promise.allSettled(Array.from({ length: 8 }, () => lockDataDir(folder)))
    const releases = held.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(releases).toHaveLength(1)
    await expect(lockDataDir(folder)).rejects.toThrow('already started')
    await releases[0]?.()
    await (
      await lockDataDir(folder)
    )()
    expect(await readdir(folder)).toEqual([])
  }
})
