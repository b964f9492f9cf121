/**
 * Allows only one supervisor per data directory. A supervisor listens on a loopback port, writes a file that names the
 * port, and only then reads the files of others: if two start at the same time, at least one sees the other. The file
 * of a killed supervisor is recognised at once, even if its process ID is reused. File names are unique, so anyone can
 * remove such a file.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** Supervisors that see each other release the lock, and try again after a random pause. */
const ATTEMPTS = 30
const MAX_PAUSE_MS = 200

interface Holder {
  pid: string
  /** False while the other supervisor is still looking for others. */
  holds: boolean
}

/** Returns a function that releases the directory. Throws when another supervisor holds it. */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  const id = randomUUID()
  let state = 'wants'
  const server = createServer((socket) => {
    // The other side may disconnect early.
    socket.on('error', () => undefined).end(`${id} ${process.pid} ${state}`)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  server.unref()
  const file = join(dataDir, `start.${(server.address() as AddressInfo).port}.${id}.lock`)
  const release = async () => {
    server.close()
    await rm(file, { force: true })
  }
  try {
    await acquire(dataDir, file, id)
  } catch (error) {
    await release()
    throw error
  }
  state = 'holds'
  return release
}

async function acquire(dataDir: string, file: string, id: string): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    await writeFile(file, '', { mode: 0o600 })
    const others = await findOthers(dataDir, id)
    if (others.length === 0) return
    const holder = others.find(({ holds }) => holds)
    if (holder)
      throw new Error(
        `${dataDir} is in use: Sluice is already started there (process ${holder.pid}). Stop it, or choose another DATA_DIR.`,
      )
    await rm(file)
    await sleep(Math.random() * MAX_PAUSE_MS)
  }
  throw new Error(`Other processes are starting with ${dataDir} at the same time. Start only one of them.`)
}

/** Returns the other supervisors that are alive. Removes the files of killed ones. */
async function findOthers(dataDir: string, ownId: string): Promise<Holder[]> {
  const lookups = (await readdir(dataDir)).map(async (name) => {
    const [, port, id] = /^start\.(\d+)\.([0-9a-f-]{36})\.lock$/.exec(name) ?? []
    if (!id || id === ownId) return []
    const [answered, pid = '', state] = (await readFrom(Number(port))).split(' ')
    if (answered === id) return [{ pid, holds: state === 'holds' }]
    await rm(join(dataDir, name), { force: true })
    return []
  })
  return (await Promise.all(lookups)).flat()
}

/** Returns the text that the process on this port sends; empty when there is no process. */
async function readFrom(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', timeout: 2000 })
  socket.on('timeout', () => socket.destroy())
  return await text(socket).catch(() => '')
}
