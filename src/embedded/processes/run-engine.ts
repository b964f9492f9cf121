/**
 * Runs one engine in its own process group, so that Ctrl-C does not reach it. A small watchdog shell stops the engine
 * when this process is gone: whatever ends this process, the pipe to the shell's standard input closes.
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { open, rename, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { raceAbort } from '../../async/race-abort.ts'
import { type EngineCommand, logFile, pidFile, WATCHDOG_NAME } from './engine-command.ts'
import { signalIfAlive, stopLeftover } from './stop-leftover.ts'

const WATCHDOG = `
pidfile=$1 signal=$2; shift 2
exec 3<&0
"$@" </dev/null 3<&- & engine=$!
echo $engine >"$pidfile"
{ read -r _ <&3; kill -s "$signal" "$engine"; } & watch=$!
wait "$engine"; code=$?
kill "$watch" 2>/dev/null
{ read -r owner <"$pidfile"; } 2>/dev/null && [ "$owner" = "$engine" ] && rm -f "$pidfile"
exit $code`

export interface EngineProcess {
  /** Resolves with the end of the engine's log when the engine has ended. */
  exited: Promise<string>
  /** Asks the engine to stop, and kills it after `timeoutMs`. */
  stop(timeoutMs?: number): Promise<void>
}

const LARGE_LOG_BYTES = 16 * 1024 * 1024
const LOG_TAIL_BYTES = 16 * 1024

/**
 * Starts the engine. First stops any leftover of an earlier run. Rejects, and starts nothing, if `signal` aborts before
 * the start.
 */
export async function runEngine(engine: EngineCommand, signal?: AbortSignal): Promise<EngineProcess> {
  await stopLeftover(engine, signal)
  signal?.throwIfAborted()
  await setAsideLargeLog(logFile(engine))
  const log = openSync(logFile(engine), 'a', 0o600)
  const logStart = fstatSync(log).size
  const child = spawn('/bin/sh', ['-c', WATCHDOG, WATCHDOG_NAME, pidFile(engine), engine.signal, ...engine.command], {
    cwd: engine.folder,
    detached: true,
    env: engine.environment,
    stdio: ['pipe', log, log],
  })
  closeSync(log)
  const { promise: exited, resolve } = Promise.withResolvers<string>()
  child.once('error', (error) => resolve(error.message))
  child.once('exit', () => void endOfLog(logFile(engine), logStart).then(resolve, () => resolve('')))
  child.stdin?.on('error', () => undefined) // The shell may just have ended.
  return { exited, stop: (timeoutMs = 30_000) => stopGroup(child, exited, timeoutMs) }
}

async function setAsideLargeLog(file: string): Promise<void> {
  const size = await stat(file).then(
    ({ size }) => size,
    () => 0,
  )
  if (size > LARGE_LOG_BYTES) await rename(file, `${file}.old`)
}

async function stopGroup(child: ReturnType<typeof spawn>, exited: Promise<string>, timeoutMs: number): Promise<void> {
  child.stdin?.end()
  const late = setTimeout(() => killGroup(child.pid), timeoutMs)
  await exited
  clearTimeout(late)
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  signalIfAlive(-pid, 'SIGKILL')
}

/** Returns the last lines that this run has logged, from position `start`. */
async function endOfLog(path: string, start: number): Promise<string> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const from = Math.max(start, size - LOG_TAIL_BYTES)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(size - from, 0)), { position: from })
    return buffer.toString('utf8', 0, bytesRead).trim().split('\n').slice(-8).join('\n')
  } finally {
    await file.close()
  }
}

/**
 * Waits for `ready`. Rejects with the end of the log if the engine ends first. Rejects when `signal` aborts. Stops the
 * engine before rejecting.
 */
export async function untilReady<T>(
  engine: EngineCommand,
  running: EngineProcess,
  ready: Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const failed = running.exited.then((log) => {
    throw new Error(`${engine.name} did not start (${logFile(engine)}):\n${log}`)
  })
  try {
    return await raceAbort(Promise.race([ready, failed]), signal)
  } catch (error) {
    await running.stop(5000)
    throw error
  }
}

/** Returns the command that runs one of Sluice's modules on the current runtime. */
export function runtimeCommand(module: URL, args: string[]): string[] {
  const permissions = 'deno' in process.versions ? ['run', '-A'] : []
  return [process.execPath, ...permissions, fileURLToPath(module), ...args]
}

/**
 * Returns a free port below the range that the system uses for outgoing connections, so that it stays free until it is
 * used.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(15_000, 32_000)
  return (await isFree(port)) ? port : await freePort()
}

export async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer().once('error', () => resolve(false))
  server.listen(port, () => server.close(() => resolve(true)))
  return await promise
}
