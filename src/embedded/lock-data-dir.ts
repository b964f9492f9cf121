/**
 * One supervisor per data directory. Whoever wants it listens on a loopback port, leaves a file that names the port, and only
 * then looks at the files of others: of two that come at once, at least one sees the other. A file whose holder was killed is
 * known at once, whatever became of its process number, and its name never comes again, so that it can be removed by anyone.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** Those that met at the door go back and come again, each after a while of its own. */
const ATTEMPTS = 30
const AWAY_MS = 200

interface Holder {
  pid: string
  /** False: it is still looking whether it may have the directory. */
  holds: boolean
}

/** Resolves to what lets go of the directory. Throws when another supervisor holds it. */
export async function lockDataDir(dataDir: string): Promise<() => Promise<void>> {
  const id = randomUUID()
  let state = 'wants'
  const server = createServer((socket) => {
    // Whoever asks may hang up early.
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
    await comeAlone(dataDir, file, id)
  } catch (error) {
    await release()
    throw error
  }
  state = 'holds'
  return release
}

async function comeAlone(dataDir: string, file: string, id: string): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    await writeFile(file, '', { mode: 0o600 })
    const others = await findOthers(dataDir, id)
    if (others.length === 0) return
    const holder = others.find(({ holds }) => holds)
    if (holder) throw new Error(`${dataDir} is in use: it is already started (process ${holder.pid}).`)
    await rm(file)
    await sleep(Math.random() * AWAY_MS)
  }
  throw new Error(`${dataDir} is just being started by other processes.`)
}

/** Those that live; the files of the dead are removed. */
async function findOthers(dataDir: string, ownId: string): Promise<Holder[]> {
  const asked = (await readdir(dataDir)).map(async (name) => {
    const [, port, id] = /^start\.(\d+)\.([0-9a-f-]{36})\.lock$/.exec(name) ?? []
    if (!id || id === ownId) return []
    const [answered, pid = '', state] = (await ask(Number(port))).split(' ')
    if (answered === id) return [{ pid, holds: state === 'holds' }]
    await rm(join(dataDir, name), { force: true })
    return []
  })
  return (await Promise.all(asked)).flat()
}

/** What listens there says; nothing when it is gone. */
async function ask(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', timeout: 2000 })
  socket.on('timeout', () => socket.destroy())
  return await text(socket).catch(() => '')
}
