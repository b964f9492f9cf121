/** What `start` shows of itself to others: one port, no engine, no file. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoreUrls } from '../../src/config.ts'
import { runtimeCommand } from '../../src/embedded/run-engine.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { speakRaw } from '../support/speak-raw.ts'

let folder: string
let dataDir: string
let child: ChildProcess
let url: string
let output = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-exposure-'))
  await chmod(folder, 0o711)
  dataDir = join(folder, 'data')
  const [command = '', ...args] = runtimeCommand(new URL('../../src/cli.ts', import.meta.url), ['start'])
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: '0' }
  child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const started = Promise.withResolvers<void>()
  child.on('exit', () => started.reject(new Error('it ended')))
  child.stdout?.on('data', (bytes: Buffer) => {
    output += String(bytes)
    if (output.includes('Ctrl-C stops it all')) started.resolve()
  })
  await started.promise
  url = /runs at (\S+)/.exec(output)?.[1] ?? ''
})
afterAll(async () => {
  const ended = once(child, 'exit')
  if (child.exitCode === null) child.kill('SIGTERM')
  if (child.exitCode === null) await ended
  await rm(folder, { recursive: true, force: true })
})

/** An address of this machine that others can reach; undefined where there is none. */
const outside = Object.values(networkInterfaces())
  .flatMap((interfaces) => interfaces ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

/** `address:port` of every TCP socket that these processes listen on. */
async function listening(pids: number[]): Promise<string[]> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')))
  const sockets = tables.flatMap((table) => table.split('\n').map((line) => line.trim().split(/\s+/)))
  const inodes = new Set((await Promise.all(pids.map(socketsOf))).flat())
  return sockets
    .filter(([, , , state, , , , , , inode]) => state === '0A' && inodes.has(inode ?? ''))
    .map(([, local = '']) => readable(local))
}

async function socketsOf(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')))
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [])
}

/** `0100007F:1F90` is 127.0.0.1:8080. */
function readable(local: string): string {
  const [address = '', port = ''] = local.split(':')
  const bytes = address.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? []
  const isAny = bytes.every((byte) => byte === 0)
  const host = isAny ? 'any' : bytes.slice(-4).toReversed().join('.')
  return `${host}:${Number.parseInt(port, 16)}`
}

/** Of the supervisor and all that it started. */
async function familyOf(pid: number): Promise<number[]> {
  const all = (await readdir('/proc')).map(Number).filter(Boolean)
  const stats = await Promise.all(all.map((one) => readFile(`/proc/${one}/stat`, 'utf8').catch(() => '')))
  const parents = new Map(
    all.map((one, at) => [one, Number(stats[at]?.slice(stats[at].lastIndexOf(')') + 2).split(' ')[1])]),
  )
  const family = [pid]
  for (const member of family) family.push(...all.filter((one) => parents.get(one) === member))
  return family
}

const engines = async (): Promise<StoreUrls> =>
  JSON.parse(await readFile(join(dataDir, 'engines.json'), 'utf8')) as StoreUrls

describe.runIf(process.platform === 'linux')('start', () => {
  it('listens beyond loopback with the front door alone', async () => {
    const sockets = await listening(await familyOf(child.pid ?? 0))
    const { port } = new URL(url)
    const beyond = sockets.filter((socket) => !socket.startsWith('127.'))
    expect(beyond).toEqual([`any:${port}`])
    // Three engines, the workers' figures, the guard of the directory.
    expect(sockets.length - beyond.length).toBeGreaterThanOrEqual(5)
  })

  it('shows no metrics to other machines', async () => {
    expect((await fetch(`${url}/metrics`)).status).toBe(200)
    if (outside === undefined) return
    const elsewhere = new URL(url)
    elsewhere.hostname = outside
    expect((await fetch(new URL('/metrics', elsewhere))).status).toBe(401)
    expect((await fetch(new URL('/healthz', elsewhere))).status).toBe(200)
  })

  it('lets nobody into an engine without the password', async () => {
    const { databaseUrl, redisUrl, clickhouseUrl } = await engines()
    const withoutPassword = (text: string) => {
      const changed = new URL(text)
      changed.password = 'wrong'
      return changed.href
    }
    const sql = connectPostgres(withoutPassword(databaseUrl), { max: 1 })
    await expect(sql`select 1`).rejects.toMatchObject({ code: '28P01' })
    await sql.end()
    const { text } = await speakRaw(redisUrl, 'KEYS *\r\nQUIT\r\n')
    expect(text).toMatch(/^-NOAUTH/)
    const { origin } = new URL(clickhouseUrl)
    expect((await fetch(`${origin}/?query=select+1`)).status).toBe(403)
    expect((await fetch(`${origin}/?query=select+1&user=sluice&password=wrong`)).status).toBe(403)
  })

  it('keeps every file to its own user, but for the numbers of processes', async () => {
    expect((await stat(dataDir)).mode & 0o777).toBe(0o711)
    const open = await openFiles(dataDir)
    expect(open.filter((name) => !name.endsWith('.pid'))).toEqual([])
    expect(output.split(/sk_live_\w+/)).toHaveLength(3)
    for (const name of await readdir(dataDir)) {
      if (name.endsWith('.log'))
        expect(await readFile(join(dataDir, name), 'utf8')).not.toMatch(/_live_|:\/\/[^/]*:[^/]*@/)
    }
  })
})

/** What others may read, write or enter, below a directory that they may pass through; what is below a closed one is closed. */
async function openFiles(directory: string): Promise<string[]> {
  const found = (await readdir(directory, { withFileTypes: true })).map(async (entry) => {
    const path = join(directory, entry.name)
    const isOpen = ((await stat(path)).mode & 0o077) !== 0
    const inside = isOpen && entry.isDirectory() ? await openFiles(path) : []
    return isOpen ? [path, ...inside] : inside
  })
  return (await Promise.all(found)).flat()
}
