/**
 * Runs `admin verify` for an operator in a separate process with a low priority, so that it does not use the CPU time
 * and memory of the front door. It only reads, and repairs nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { StoreUrls } from '../stores/data-dir.ts'
import { environmentWithout } from '../embedded/processes/engine-command.ts'
import { runtimeCommand } from '../embedded/processes/run-engine.ts'
import type { Logger } from '../log.ts'
import type { Sql } from '../stores/postgres.ts'
import { type VerifyProgress, type VerifySummary, endRun, reportRun, withoutResult } from './verify-runs.ts'

const REPORT_MS = 2000
/** Milliseconds that the command may take to stop before it is killed. */
const STOP_MS = 3000

/** Stops the command when this process ends for any reason, because its end of the pipe then closes. */
const SCRIPT = `
exec 3<&0
nice -n 10 "$@" </dev/null 3<&- & command=$!
{ read -r _ <&3; kill "$command"; } & watch=$!
wait "$command"; code=$?
kill "$watch" 2>/dev/null
exit $code`

export interface Verifier {
  /** Starts the comparison in the background. `id`: id of a run that has begun. */
  start(id: string): void
  /** Stops the running comparison. */
  close(): Promise<void>
}

interface VerifierDeps {
  sql: Sql
  log: Logger
  urls: StoreUrls
  dataDir: string
}

export function createVerifier(deps: VerifierDeps): Verifier {
  const stopping = new AbortController()
  let running: Promise<void> = Promise.resolve()
  return {
    start(id) {
      const before = running
      running = before
        .then(() => runOne(deps, id, stopping.signal))
        .catch((err: unknown) => deps.log.warn({ err }, 'a comparison of the stores could not be recorded'))
    },
    async close() {
      stopping.abort()
      await running
    },
  }
}

async function runOne({ sql, log, ...target }: VerifierDeps, id: string, signal: AbortSignal): Promise<void> {
  let progress: VerifyProgress = { contacts: 0, totalContacts: 0, activity: '' }
  const command = startCommand(target, (latest) => (progress = latest))
  const stop = () => command.stop()
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  const timer = setInterval(() => {
    reportRun(sql, id, progress).then(
      (goesOn) => goesOn || stop(),
      // The next report may succeed. If none does for a long time, the run is considered lost.
      (err: unknown) => log.warn({ err }, 'the progress of a comparison of the stores could not be recorded'),
    )
  }, REPORT_MS)
  try {
    await endRun(sql, id, await command.result)
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', stop)
  }
}

interface Command {
  /** Never rejects. */
  result: Promise<VerifySummary>
  stop(): void
}

function startCommand({ urls, dataDir }: Omit<VerifierDeps, 'sql' | 'log'>, onProgress: (now: VerifyProgress) => void) {
  const words = runtimeCommand(new URL('../cli.ts', import.meta.url), ['admin', 'verify', '--json', '--progress'])
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sluice-verify', ...words], {
    // A separate process group, which can be killed as a whole.
    detached: true,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...environmentWithout('SLUICE_API_KEY', 'SECRETS_KEY'),
      DATABASE_URL: urls.databaseUrl,
      REDIS_URL: urls.redisUrl,
      CLICKHOUSE_URL: urls.clickhouseUrl,
      DATA_DIR: dataDir,
    },
  })
  child.stdin.on('error', () => undefined) // The shell may just have ended.
  let summary = withoutResult('The command ended without a result. See the log of the front door.')
  const lines = createInterface({ input: child.stdout }).on('line', (line) => {
    const output = readLine(line)
    if (output === null) return
    if ('progress' in output) onProgress(readProgress(output['progress'] as Record<string, unknown>))
    else summary = summarise(output)
  })
  const { promise: result, resolve } = Promise.withResolvers<VerifySummary>()
  child.once('error', (error) => resolve(withoutResult(error.message)))
  lines.once('close', () => resolve(summary))
  let late: NodeJS.Timeout | undefined
  child.once('close', () => clearTimeout(late))
  return {
    result,
    stop() {
      child.stdin.end()
      late ??= setTimeout(() => killGroup(child), STOP_MS)
    },
  } satisfies Command
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
}

function readLine(line: string): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return null
  }
}

const readProgress = ({ contacts, total, activity }: Record<string, unknown>): VerifyProgress => ({
  contacts: Number(contacts),
  totalContacts: Number(total),
  activity: String(activity),
})

interface Report extends Omit<VerifySummary, 'uncompared' | 'reason'> {
  uncompared: unknown[]
  error?: { message: string }
}

function summarise(output: Record<string, unknown>): VerifySummary {
  const { agree, error, uncompared, ...report } = output as unknown as Report
  if (error !== undefined) return withoutResult(error.message)
  const { businesses, contacts, visitors, notCompared, found } = report
  return { agree, reason: null, businesses, contacts, visitors, notCompared, uncompared: uncompared.length, found }
}
