/**
 * One supervisor per data directory. The holder listens on a loopback port that the lock file names, so a lock whose holder
 * was killed is known at once, whatever became of its process number.
 */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Resolves to what lets go of the directory. Throws when another supervisor holds it. */
export async function holdDataDir(dataDir: string): Promise<() => Promise<void>> {
  const file = join(dataDir, 'start.lock')
  const holder = `sluice ${process.pid} ${dataDir}`
  const server = createServer((socket) => {
    // Whoever asks may hang up early.
    socket.on('error', () => undefined).end(holder)
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  server.unref()
  const release = async () => {
    server.close()
    await rm(file, { force: true })
  }
  if (await claim(file, port)) return release
  const other = await askHolder(file)
  if (other.endsWith(dataDir)) {
    server.close()
    throw new Error(`${dataDir} is in use: it is already started (process ${other.split(' ')[1]}).`)
  }
  await rm(file, { force: true })
  if (await claim(file, port)) return release
  server.close()
  throw new Error(`${dataDir} is just being started by another process.`)
}

async function claim(file: string, port: number): Promise<boolean> {
  try {
    await writeFile(file, String(port), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** What the noted holder says; nothing when it is gone. */
async function askHolder(file: string): Promise<string> {
  const port = Number(await readFile(file, 'utf8').catch(() => ''))
  if (!port) return ''
  const socket = connect({ port, host: '127.0.0.1', timeout: 2000 })
  socket.on('timeout', () => socket.destroy())
  return await text(socket).catch(() => '')
}
