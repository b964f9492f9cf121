/**
 * Runs the jobs of templates in one thread, which is restarted when a job takes too long. Businesses take turns: a
 * business that saves large templates delays each job of another business by at most one of its own, and by BATCH_MS.
 */
import { Worker } from 'node:worker_threads'
import { RequestError } from '../../errors.ts'
import { createJobQueue } from './job-queue.ts'
import { type Job, type JobResult, type Part, oldestBeyondLimit } from './jobs.ts'
import type { Registers } from './registers.ts'

/**
 * Milliseconds, a thousand times what a usual template takes: on a busy machine, the limits of steps and memory end a
 * render before this does. The first MJML template waits until its library is loaded.
 */
const DEADLINES: Record<Job['kind'], number> = { render: 10_000, check: 10_000, mjml: 30_000 }
/** Limit for the start of the thread, in milliseconds. */
const START_MS = 60_000
/** Messages of a business that are sent to the thread together. Handing one over takes longer than rendering it. */
const MAX_BATCH = 16

export interface Renderer {
  render(job: {
    /** Identifies the parts: the same key is always used for the same parts. */
    key: string
    parts: Part[]
    values: object
    registers: Registers
    /** The part from whose HTML the text is made. */
    textFrom: string | null
  }): Promise<JobResult>
  check(parts: Part[]): Promise<JobResult>
  compileMjml(source: string, language: string): Promise<JobResult>
}

export interface RenderService {
  /** Its methods reject with `unavailable` when too many jobs wait. */
  of(businessId: string): Renderer
  /** Rejects the remaining jobs. */
  close(): Promise<void>
}

interface QueuedJob {
  businessId: string
  job: Job
  resolve: (result: JobResult) => void
}

const TOO_MANY = {
  message: 'Too many templates are being checked and rendered. Try again after the number of seconds in Retry-After.',
  headers: { 'retry-after': '5' },
}
const TOO_LONG = 'the template takes too long'
const CLOSED: JobResult = { kind: 'ended', reason: 'the process stops' }

/** Starts the thread with the first job. */
export function createRenderService(deadlines = DEADLINES): RenderService {
  const waiting = createJobQueue<QueuedJob>()
  let thread: Worker | undefined
  /** Shared with the thread: the place of the job that it runs, among the current ones. */
  let running = new Int32Array(new SharedArrayBuffer(4))
  let isReady = false
  let isNextScheduled = false
  /** Jobs that the thread has, of one business. */
  let current: QueuedJob[] = []
  let timer: NodeJS.Timeout | undefined
  let known = new Set<string>()

  /** The other current jobs are sent again. */
  const finish = (results: ReadonlyMap<number, JobResult>): void => {
    clearTimeout(timer)
    const jobs = current
    current = []
    const left = jobs.filter(({ resolve }, place) => {
      const result = results.get(place)
      if (result !== undefined) resolve(result)
      return result === undefined
    })
    waiting.putBack(jobs[0]?.businessId ?? '', left)
    scheduleNext()
  }
  const replace = (reason: string): void => {
    const old = thread
    thread = undefined
    known = new Set()
    void old?.terminate()
    finish(new Map([[Atomics.load(running, 0), { kind: 'ended', reason }]]))
  }
  /** What is asked for at the same time is sent together. */
  const scheduleNext = (): void => {
    if (isNextScheduled) return
    isNextScheduled = true
    setImmediate(() => {
      isNextScheduled = false
      next()
    })
  }
  const next = (): void => {
    if (current.length > 0) return
    if (waiting.size() === 0) return thread?.unref()
    if (thread === undefined) return start()
    if (!isReady) return
    current = waiting.take(MAX_BATCH, ({ job }) => job.kind === 'render')
    const [first] = current
    if (first === undefined) return
    thread.ref()
    Atomics.store(running, 0, 0)
    timer = setTimeout(() => replace(TOO_LONG), deadlines[first.job.kind])
    thread.postMessage(
      current.map(({ job }) => shorten(job, known)),
      [],
    )
  }
  const start = (): void => {
    isReady = false
    running = new Int32Array(new SharedArrayBuffer(4))
    const started = new Worker(new URL('render-thread.ts', import.meta.url), { workerData: running })
    thread = started
    timer = setTimeout(() => fail('it did not start'), START_MS)
    const fail = (reason: string): void => {
      if (thread !== started) return
      // A thread that cannot start fails the job that it was started for. One that dies while it has none fails none.
      if (!isReady) current = waiting.take()
      replace(`the render thread failed: ${reason}`)
    }
    started.on('message', (message: JobResult[] | 'ready') => {
      if (thread !== started) return
      if (message !== 'ready') return finish(new Map(message.entries()))
      clearTimeout(timer)
      isReady = true
      next()
    })
    started.on('error', (error: unknown) => fail(error instanceof Error ? error.message : 'it threw'))
    started.on('exit', () => fail('it ended'))
  }
  const ask = async (businessId: string, job: Job): Promise<JobResult> => {
    const { promise, resolve } = Promise.withResolvers<JobResult>()
    if (!waiting.add(businessId, { businessId, job, resolve })) throw new RequestError('unavailable', TOO_MANY)
    scheduleNext()
    return await promise
  }
  return {
    of: (businessId) => ({
      render: (job) => ask(businessId, { kind: 'render', ...job }),
      check: (parts) => ask(businessId, { kind: 'check', parts }),
      compileMjml: (source, language) => ask(businessId, { kind: 'mjml', source, language }),
    }),
    async close() {
      clearTimeout(timer)
      while (waiting.size() > 0) for (const { resolve } of waiting.take()) resolve(CLOSED)
      const old = thread
      thread = undefined
      for (const { resolve } of current) resolve(CLOSED)
      current = []
      await old?.terminate()
    },
  }
}

/** Omits parts that the thread already has. */
function shorten(job: Job, known: Set<string>): Job {
  if (job.kind !== 'render') return job
  if (known.has(job.key)) {
    const { parts: _, ...rest } = job
    return rest
  }
  known.add(job.key)
  const oldest = oldestBeyondLimit(known)
  if (oldest !== undefined) known.delete(oldest)
  return job
}
