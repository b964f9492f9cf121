/** Runs the command line as a separate process, and collects its output. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { vi } from 'vitest'
import { runtimeCommand } from '../../src/embedded/processes/run-engine.ts'
import { PATIENCE_MS } from './at-load.ts'

export interface Run {
  child: ChildProcess
  output(): string
  /** Resolves to the exit code. */
  ended: Promise<number | null>
}

const running = new Set<ChildProcess>()

/** Settings that are undefined are removed; PORT is any free one. The process leads its own process group. */
export function runCli(settings: Record<string, string | undefined>, ...words: string[]): Run {
  const [command = '', ...args] = runtimeCommand(new URL('../../src/cli.ts', import.meta.url), words)
  const environment = { ...process.env, PORT: '0', NODE_ENV: undefined, VITEST: undefined, ...settings }
  const child = spawn(command, args, { detached: true, env: environment })
  running.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (output += part.toString()))
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child)
    return code as number | null
  })
  return { child, output: () => output, ended }
}

/** Resolves to the address that the process prints. Rejects with its output if it is not ready in time. */
export async function untilStarted(started: Run): Promise<string> {
  const isStarted = () => started.output().includes('Ctrl-C stops it all')
  await vi.waitUntil(isStarted, { timeout: PATIENCE_MS }).catch(() => {
    throw new Error(`not started after ${PATIENCE_MS} ms. It printed:\n${started.output()}`)
  })
  return /runs at (\S+)/.exec(started.output())?.[1] ?? ''
}

/** Kills the processes that a failed test has left. */
export function killRuns(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** Sends a Ctrl-C as under npm: the terminal signals the whole group, then npm forwards its own signal. */
export async function pressCtrlC({ child: { pid = 0 } }: Run): Promise<void> {
  process.kill(-pid, 'SIGINT')
  await new Promise((resolve) => setTimeout(resolve, 20))
  if (isAlive(pid)) process.kill(pid, 'SIGINT')
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
