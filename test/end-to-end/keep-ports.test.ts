/** The ports of the embedded engines over restarts. */
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keepPorts } from '../../src/embedded/processes/keep-ports.ts'
import { createLogger } from '../../src/log.ts'

const log = createLogger({ level: 'silent', name: 'ports' })
let dataDir: string
let taking: Server
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sluice-ports-'))
  taking = createServer()
})
afterEach(async () => {
  taking.close()
  await rm(dataDir, { recursive: true })
})

const keep = async () => (await keepPorts(dataDir, ['redis'], log))['redis'] ?? 0

async function takePort(port: number): Promise<void> {
  taking.listen(port)
  await once(taking, 'listening')
}

it('stay the same, also when a killed engine has its port for a moment longer', async () => {
  const port = await keep()
  expect(await keep()).toBe(port)
  await takePort(port)
  const kept = keep()
  await sleep(300)
  taking.close()
  expect(await kept).toBe(port)
})
