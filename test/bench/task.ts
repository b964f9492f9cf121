/**
 * Runs work in a separate process, in two steps: the process prepares and reports that it is ready; on the order to go
 * it works and reports the result. Each message is one line of JSON, the plan first.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { runtimeCommand } from '../../src/embedded/processes/run-engine.ts'

/** The process that starts the work knows the type of its plan. */
type Prepare = (plan: never) => Promise<{ run(): Promise<unknown> }>

/** Runs in the process. It ends with its parent. */
export async function serveTask(prepare: Prepare): Promise<void> {
  const lines = createInterface(process.stdin)[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const line = await lines.next()
    if (line.done) process.exit(1)
    return line.value
  }
  const ready = await prepare(JSON.parse(await next()) as never)
  say({ ready: true })
  await next()
  say(await ready.run())
  // Waits until the parent has taken its last reading. Connections that end would move CPU time between processes in
  // the meantime.
  await next()
  process.exit(0)
}

function say(value: unknown): void {
  // Writing to a pipe is synchronous on Linux, so the text is written before the exit.
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

export interface Task<Result> {
  pid: number
  /** Starts the work. Rejects when the process ends without a result. */
  go(): Promise<Result>
  /** Ends the process; resolves when it has ended. */
  end(): Promise<void>
}

/** Starts the process. Resolves when it is ready. */
export async function startTask<Result>(module: URL, plan: object): Promise<Task<Result>> {
  const [command = '', ...args] = runtimeCommand(module, [])
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async (): Promise<unknown> => {
    const line = await lines.next()
    if (line.done) throw new Error(`${module.pathname} ended before its work was done`)
    return JSON.parse(line.value)
  }
  child.stdin.write(`${JSON.stringify(plan)}\n`)
  await next()
  return {
    pid: child.pid ?? 0,
    async go() {
      child.stdin.write('go\n')
      return (await next()) as Result
    },
    async end() {
      child.stdin.end()
      await exited
    },
  }
}
