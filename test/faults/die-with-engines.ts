/** A run that is killed. Leaves a folder below argv[2], with one running and one frozen engine. */
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { environmentWithout } from '../../src/embedded/processes/engine-command.ts'
import { runEngine } from '../../src/embedded/processes/run-engine.ts'
import { createRunFolder } from './remove-leftovers.ts'

const dataDir = await createRunFolder(process.argv[2])
for (const name of ['awake', 'frozen']) {
  const folder = join(dataDir, name)
  await mkdir(folder)
  await runEngine({
    name,
    dataDir,
    folder,
    command: ['sleep', '600'],
    environment: environmentWithout(),
    signal: 'TERM',
  })
}
await pidOf('awake')
await freeze(await pidOf('frozen'))
process.kill(process.pid, 'SIGKILL')

async function pidOf(name: string): Promise<number> {
  for (;;) {
    const pid = Number(await readFile(join(dataDir, `${name}.pid`), 'utf8').catch(() => ''))
    if (pid) return pid
    await sleep(10)
  }
}

/** Signals take time, and one that ends a process would overtake one that stops it. */
async function freeze(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  while (!(await readFile(`/proc/${pid}/stat`, 'utf8')).includes(') T ')) await sleep(5)
}
