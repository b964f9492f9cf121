/** A Postgres of its own for a test that stops, kills and freezes it. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../../src/embedded/postgres/postgres.ts'
import { freePort } from '../../src/embedded/processes/run-engine.ts'
import { quietStep } from '../../src/embedded/start-steps.ts'
import { createLogger } from '../../src/log.ts'
import { type Handle, createHandle } from '../faults/run-process.ts'

export interface OwnPostgres extends Handle {
  url: string
  close(): Promise<void>
}

export async function openOwnPostgres(): Promise<OwnPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-own-postgres-'))
  await chmod(dataDir, 0o711)
  const { signal } = new AbortController()
  const setup = {
    dataDir,
    port: await freePort(),
    password: 'own',
    small: true,
    timeoutMs: 60_000,
    signal,
    step: quietStep,
  }
  let url = ''
  const handle = createHandle('postgres', dataDir, async () => {
    const running = await startPostgres(setup, createLogger({ level: 'fatal', name: 'own-postgres' }))
    url = running.url
    return running
  })
  await handle.start()
  return {
    ...handle,
    url,
    async close() {
      await handle.resume()
      await handle.stop('SIGQUIT')
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
