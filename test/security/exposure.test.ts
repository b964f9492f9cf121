// @long
/** What `start` exposes to others: one port, no engine, no file. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readdir, readFile, readlink, rm, stat } from 'node:fs/promises'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoreUrls } from '../../src/stores/data-dir.ts'
import type { DemoKeys } from '../../src/embedded/demo-business.ts'
import { superuserUrl } from '../../src/embedded/postgres/prepare-postgres.ts'
import { freePort, runtimeCommand } from '../../src/embedded/processes/run-engine.ts'
import { connectPostgres } from '../../src/stores/postgres.ts'
import { speakRaw } from '../support/speak-raw.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const SECRETS_KEY = '5'.repeat(64)
const ENGINES = ['postgres', 'redis', 'clickhouse']
const SERVICES = ['front-door', 'workers']
const WORKERS_PORT = String(await freePort())
/** In each address that this test uses. */
const PERSON = 'nobodyshouldreadthis'
const isRoot = process.getuid?.() === 0

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
  const env = {
    PATH: process.env['PATH'],
    DATA_DIR: dataDir,
    PORT: '0',
    SECRETS_KEY,
    SLUICE_API_KEY: 'sk_live_x',
    WORKERS_PORT,
  }
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

/** An address of this machine that others can reach; undefined when there is none. */
const outside = Object.values(networkInterfaces())
  .flatMap((interfaces) => interfaces ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

/** Returns the `address:port` of every TCP socket on which these processes listen. */
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

/** Converts a local address of /proc: `0100007F:1F90` is 127.0.0.1:8080. */
function readable(local: string): string {
  const [address = '', port = ''] = local.split(':')
  const bytes = address.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? []
  const isAny = bytes.every((byte) => byte === 0)
  const host = isAny ? 'any' : bytes.slice(-4).toReversed().join('.')
  return `${host}:${Number.parseInt(port, 16)}`
}

/** Returns the supervisor and all processes that it started. */
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
  it('listens beyond loopback only with the front door', async () => {
    const sockets = await listening(await familyOf(child.pid ?? 0))
    const { port } = new URL(url)
    const beyond = sockets.filter((socket) => !socket.startsWith('127.'))
    expect(beyond).toEqual([`any:${port}`])
    // Three engines, the metrics of the workers, and the guard of the directory.
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

  it('lets no client into an engine without the password', async () => {
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

  it('lets only its own user read its files, except process ids', async () => {
    expect((await stat(dataDir)).mode & 0o777).toBe(0o711)
    const open = await openFiles(dataDir)
    expect(open.filter((name) => !name.endsWith('.pid'))).toEqual([])
    expect(output.split(/sk_live_\w+/)).toHaveLength(3)
    for (const name of ENGINES) expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o700)
    for (const name of await readdir(dataDir)) {
      if (name.endsWith('.log'))
        expect(await readFile(join(dataDir, name), 'utf8')).not.toMatch(/_live_|:\/\/[^/]*:[^/]*@/)
    }
  })
})

describe.runIf(process.platform === 'linux')('each process', () => {
  const pidOf = async (name: string) => (await readFile(join(dataDir, `${name}.pid`), 'utf8')).trim()
  const environmentOf = async (name: string) => {
    const text = await readFile(`/proc/${await pidOf(name)}/environ`, 'utf8')
    return text.split('\0').filter(Boolean)
  }

  it('that is an engine has nothing secret in its environment', async () => {
    const plain =
      /^(?:PATH|PWD|OLDPWD|SHLVL|_|HOME|TZ|TMPDIR|LANG|LANGUAGE|LC_\w+|PG\w+|UV_THREADPOOL_SIZE|MIMALLOC_\w+|BUN_\w+)$/
    for (const name of ENGINES) {
      const names = (await environmentOf(name)).map((entry) => entry.split('=')[0] ?? '')
      expect(
        names.filter((one) => !plain.test(one)),
        name,
      ).toEqual([])
    }
  })

  it('has SECRETS_KEY where secrets are opened, and the key of imports nowhere', async () => {
    const holders = async (name: string) => {
      const has: string[] = []
      for (const one of SERVICES)
        if ((await environmentOf(one)).some((entry) => entry.startsWith(`${name}=`))) has.push(one)
      return has
    }
    expect(await holders('SECRETS_KEY')).toEqual(SERVICES)
    expect(await holders('SLUICE_API_KEY')).toEqual([])
  })

  it.runIf(isRoot)('that is an engine does not run as root', async () => {
    for (const name of ENGINES) {
      const status = await readFile(`/proc/${await pidOf(name)}/status`, 'utf8')
      const uids = (/^Uid:\s+(.*)$/m.exec(status)?.[1] ?? '').split(/\s+/)
      expect(new Set(uids), name).toEqual(new Set([String((await stat(join(dataDir, name))).uid)]))
      expect(uids, name).not.toContain('0')
    }
  })

  it.runIf(isRoot)('that is an engine cannot read what another engine keeps', async () => {
    const owners = await Promise.all(ENGINES.map(async (name) => (await stat(join(dataDir, name))).uid))
    expect(new Set(owners).size).toBe(ENGINES.length)
  })
})

describe('the role of the daily work in Postgres', () => {
  const denied = [
    `select pg_read_file('/etc/passwd')`,
    `copy (select 1) to program 'id'`,
    `copy (select 1) to '/tmp/sluice-copied'`,
    `create role other superuser`,
    `alter system set fsync = off`,
    `alter role current_user superuser`,
  ]

  it('may read no file, run no program and change no setting', async () => {
    const sql = connectPostgres((await engines()).databaseUrl, { max: 1 })
    for (const statement of denied) {
      await expect(sql.unsafe(statement), statement).rejects.toMatchObject({ code: '42501' })
    }
    await sql.end()
  })

  it('does not know the password of the one that may', async () => {
    const { databaseUrl } = await engines()
    const url = new URL(databaseUrl)
    url.username = 'sluice'
    const sql = connectPostgres(url.href, { max: 1 })
    await expect(sql`select 1`).rejects.toMatchObject({ code: '28P01' })
    await sql.end()
    const superuser = connectPostgres(await superuserUrl(dataDir, databaseUrl), { max: 1 })
    expect(await superuser`show is_superuser`).toEqual([{ is_superuser: 'on' }])
    await superuser.end()
  })
})

it.runIf(isRoot)('ClickHouse reads no file that its user may not read', async () => {
  const url = new URL((await engines()).clickhouseUrl)
  const ask = async (query: string) => {
    const headers = { authorization: `Basic ${btoa(`${url.username}:${url.password}`)}` }
    const answer = await fetch(url.origin, { method: 'POST', headers, body: query })
    return { ok: answer.ok, text: await answer.text() }
  }
  expect(await ask('select 1')).toEqual({ ok: true, text: '1\n' })
  for (const path of ['/etc/shadow', join(dataDir, 'engines.json'), join(dataDir, 'postgres-superuser')]) {
    const { ok, text } = await ask(`select * from file('${path}', 'LineAsString')`)
    expect([ok, text.includes(':')], path).toEqual([false, true])
    expect(text).not.toMatch(/root:|postgres:\/\//)
  }
})

describe('the logs of the engines and of our own processes', () => {
  const key = async () => (JSON.parse(await readFile(join(dataDir, 'demo-keys.json'), 'utf8')) as DemoKeys).secretKey
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${await key()}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return answer.status
  }
  const countConflicts = async () => {
    const text = await (await fetch(`http://127.0.0.1:${WORKERS_PORT}/metrics`)).text()
    return Number(/^saves_total\{[^}]*outcome="conflict"[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0)
  }

  it('name no person, while partitions race and Postgres is killed', async () => {
    const event = (name: string) => ({ event: 'e', identity: { email: `${PERSON}-${name}@example.com` } })
    for (let round = 0; round < 40 && (await countConflicts()) === 0; round += 1) {
      const names = Array.from({ length: 30 }, (_, at) => `${round}-${at}`)
      const statuses = await Promise.all([
        post('/api/sdk/track', event(`${round}-0`)),
        post('/api/sdk/track/batch', { events: names.map(event) }),
        post('/api/sdk/track', event(`${round}-29`)),
      ])
      expect(statuses).toEqual([200, 200, 200])
    }
    expect(await countConflicts()).toBeGreaterThan(0)

    const { databaseUrl } = await engines()
    const sql = connectPostgres(databaseUrl, { max: 1 })
    await expect(sql`insert into identities select * from identities`).rejects.toMatchObject({
      code: '23505',
      detail: expect.stringContaining(PERSON) as string,
    })
    await expect(sql`select ${`${PERSON}@example.com`}::text::int`).rejects.toMatchObject({ code: '22P02' })
    await expect(sql.unsafe(`insert into identities values ('${PERSON}@example.com')`)).rejects.toMatchObject({
      code: '22P02',
    })
    await sql.end()

    process.kill(Number(await readFile(join(dataDir, 'postgres.pid'), 'utf8')), 'SIGKILL')
    await Promise.all(Array.from({ length: 10 }, (_, at) => post('/api/sdk/track', event(`killed-${at}`))))
    await expect.poll(() => post('/api/sdk/track', event('after')), { timeout: PATIENCE_MS, interval: 500 }).toBe(200)

    const logs = (await readdir(dataDir)).filter((name) => name.endsWith('.log'))
    expect(logs.toSorted()).toEqual([...ENGINES, ...SERVICES].map((name) => `${name}.log`).toSorted())
    const texts = await Promise.all(logs.map((name) => readFile(join(dataDir, name), 'utf8')))
    expect(texts.join('')).toContain('database system is ready to accept connections')
    expect(logs.filter((_, at) => texts[at]?.includes(PERSON))).toEqual([])
  })
})

/**
 * Lists the files that other users may read, write or enter, below directories that they may enter. A closed directory
 * also closes everything below it.
 */
async function openFiles(directory: string): Promise<string[]> {
  const found = (await readdir(directory, { withFileTypes: true })).map(async (entry) => {
    const path = join(directory, entry.name)
    const isOpen = ((await stat(path)).mode & 0o077) !== 0
    const inside = isOpen && entry.isDirectory() ? await openFiles(path) : []
    return isOpen ? [path, ...inside] : inside
  })
  return (await Promise.all(found)).flat()
}
