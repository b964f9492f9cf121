/** Renders templates in a separate thread, which can be ended when a template hangs. */
import { parentPort, workerData } from 'node:worker_threads'
import { faultOf } from '../../rules/faults.ts'
import { READABLE, dataNamesIn, mayRead, showPath } from './allowed-reads.ts'
import { compileMjml } from './compile-mjml.ts'
import {
  BATCH_MS,
  type Job,
  type JobResult,
  type Part,
  type PartFault,
  type TimedResult,
  oldestBeyondLimit,
} from './jobs.ts'
import { type LiquidEngine, type ParsedTemplate, createLiquidEngine, describeFault } from './liquid-engine.ts'
import { MAX_DEPTH, makeText } from './make-text.ts'
import { createRunningJob } from './running-job.ts'

/** Of a part: a template may have thousands of the same kind. */
const MAX_FAULTS = 20
const TOO_DEEP = faultOf('', 'too_deep', { max: MAX_DEPTH })

interface KnownPart extends Part {
  parsed?: ParsedTemplate[]
}

const html = createLiquidEngine(true)
const plain = createLiquidEngine(false)
const engineOf = ({ isHtml }: Part): LiquidEngine => (isHtml ? html : plain)

const known = new Map<string, KnownPart[]>()

type Ready = Exclude<Job, { kind: 'render' }> | (Extract<Job, { kind: 'render' }> & { parts: KnownPart[] })

async function run(job: Ready): Promise<JobResult> {
  switch (job.kind) {
    case 'render':
      return render(job)
    case 'check':
      return check(job.parts)
    case 'mjml': {
      const compiled = await compileMjml(job.source, job.language)
      return 'html' in compiled ? { kind: 'compiled', ...compiled } : { kind: 'refused', ...compiled }
    }
  }
}

function render({ parts, values, registers, textFrom }: Extract<Ready, { kind: 'render' }>): JobResult {
  const rendered: Record<string, string> = {}
  for (const part of parts) {
    const engine = engineOf(part)
    try {
      part.parsed ??= engine.parse(part.source)
      rendered[part.name] = engine.render(part.parsed, values, registers)
    } catch (error) {
      return { kind: 'failed', reason: `${part.name}: ${describeFault(error)}` }
    }
  }
  const source = textFrom === null ? undefined : rendered[textFrom]
  if (source === undefined) return { kind: 'rendered', parts: rendered, text: null }
  const text = makeText(source)
  return text === null
    ? { kind: 'failed', reason: `${textFrom}: ${TOO_DEEP.message}` }
    : { kind: 'rendered', parts: rendered, text }
}

function findParts(key: string, sent: Part[] | undefined): KnownPart[] {
  if (sent !== undefined) {
    known.set(key, sent)
    const oldest = oldestBeyondLimit(known)
    if (oldest !== undefined) known.delete(oldest)
  }
  const found = known.get(key)
  if (found === undefined) throw new Error(`the parts of ${key} were not sent`)
  return found
}

function check(parts: readonly Part[]): JobResult {
  const paths: unknown[][] = []
  const faults = parts.flatMap((part) => checkPart(part, paths))
  return { kind: 'checked', faults, dataNames: dataNamesIn(paths) }
}

/** Adds the paths that the part reads to `paths`. */
function checkPart(part: Part, paths: unknown[][]): PartFault[] {
  const { name, source, isHtml } = part
  const engine = engineOf(part)
  try {
    const read = engine.reads(engine.parse(source))
    paths.push(...read)
    const refused = read.filter((path) => !mayRead(path))
    if (refused.length === 0 && isHtml && makeText(source) === null) return [{ part: name, fault: TOO_DEEP }]
    return refused.slice(0, MAX_FAULTS).map((path) => ({
      part: name,
      fault: faultOf('', 'reads', { value: showPath(path), readable: READABLE }),
    }))
  } catch (error) {
    return [{ part: name, fault: { path: '', message: describeFault(error) } }]
  }
}

/** Returns the results of the first jobs: of all, or of as many as there was time for. */
async function runInTime(jobs: Job[]): Promise<TimedResult[]> {
  // Before the first runs: a job that is left out comes again without its parts.
  const ready = jobs.map((job): Ready =>
    job.kind === 'render' ? { ...job, parts: findParts(job.key, job.parts) } : job,
  )
  const until = performance.now() + BATCH_MS
  const results: TimedResult[] = []
  for (const job of ready) {
    const started = performance.now()
    if (results.length > 0 && started >= until) break
    running.begin(results.length)
    const result = await run(job).catch((error: unknown): JobResult => ({
      kind: 'failed',
      reason: describeFault(error),
    }))
    running.end()
    results.push({ result, ms: performance.now() - started })
  }
  return results
}

const port = parentPort
if (port === null) throw new Error('render-thread.ts runs as a worker thread')
const running = createRunningJob(workerData as SharedArrayBuffer)
port.on('message', (jobs: Job[]) => void runInTime(jobs).then((results) => port.postMessage(results)))
port.postMessage('ready')
