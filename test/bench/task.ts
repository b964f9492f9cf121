/**
 * A piece of work in a process of its own, in two steps: it prepares and says that it is ready; it gets the order to go, works,
 * and reports the outcome. One line of JSON each way, the plan first.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { runtimeCommand } from '../../src/embedded/run-engine.ts'

/** The process that starts it knows the type of its plan. */
type Prepare = (plan: never) => Promise<{ run(): Promise<unknown> }>

/** The side of the process. It ends with its parent. */
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
  // Until its parent has taken its last look: connections that end would move time between processes meanwhile.
  await next()
  process.exit(0)
}

function say(value: unknown): void {
  // Synchronous for a pipe on Linux: what is said is out before the exit.
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

export interface Task<Result> {
  pid: number
  /** Starts the work; rejects when the process ends without a result. */
  go(): Promise<Result>
  /** Lets it go; resolves when it is gone. */
  end(): Promise<void>
}

/** The other side. Resolves when it is ready. */
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
