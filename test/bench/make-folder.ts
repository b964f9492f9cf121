/** The folder of one run's data. It is removed after the run, or by the next run if this one is killed. */
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NAME = /^sluice-bench-(\d+)-/

/** Other users may pass through the folder, because Postgres may run as another user. */
export async function makeFolder(place: string = tmpdir()): Promise<string> {
  const dead = (await readdir(place)).filter((name) => isDead(Number(NAME.exec(name)?.[1] ?? process.pid)))
  await Promise.all(dead.map((name) => rm(join(place, name), { recursive: true, force: true })))
  const folder = await mkdtemp(join(place, `sluice-bench-${process.pid}-`))
  await chmod(folder, 0o711)
  return folder
}

function isDead(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
