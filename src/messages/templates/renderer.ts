/**
 * Runs the jobs of templates in one thread, which is restarted when a job takes too long. Businesses take turns: a
 * business that saves large templates delays each job of another business by at most one of its own.
 */
import { Worker } from 'node:worker_threads'
import { RequestError } from '../../errors.ts'
import { createJobQueue } from './job-queue.ts'
import { type Job, type JobResult, type Part, oldestBeyondLimit } from './jobs.ts'

/**
 * Milliseconds, a thousand times what a usual template takes: on a busy machine, the limits of steps and memory end a
 * render before this does. The first MJML template waits until its library is loaded.
 */
const DEADLINES: Record<Job['kind'], number> = { render: 10_000, check: 10_000, mjml: 30_000 }
/** Limit for the start of the thread, in milliseconds. */
const START_MS = 60_000

export interface Renderer {
  render(job: {
    /** Identifies the parts: the same key is always used for the same parts. */
    key: string
    parts: Part[]
    values: object
    /** Epoch milliseconds. */
    now: number
    /** The part from whose HTML the text is made. */
    textFrom: string | null
  }): Promise<JobResult>
  check(parts: Part[]): Promise<JobResult>
  compileMjml(source: string): Promise<JobResult>
}

export interface RenderService {
  /** Its methods reject with `unavailable` when too many jobs wait. */
  of(businessId: string): Renderer
  /** Rejects the remaining jobs. */
  close(): Promise<void>
}

interface QueuedJob {
  job: Job
  resolve: (result: JobResult) => void
}

const TOO_MANY = {
  message: 'Too many templates are being checked and rendered. Try again after the number of seconds in Retry-After.',
  headers: { 'retry-after': '5' },
}
const TOO_LONG: JobResult = { kind: 'ended', reason: 'the template takes too long' }
const CLOSED: JobResult = { kind: 'ended', reason: 'the process stops' }

/** Starts the thread with the first job. */
export function createRenderService(deadlines = DEADLINES): RenderService {
  const waiting = createJobQueue<QueuedJob>()
  let thread: Worker | undefined
  let isReady = false
  let current: QueuedJob | undefined
  let timer: NodeJS.Timeout | undefined
  let known = new Set<string>()

  const finish = (result: JobResult): void => {
    clearTimeout(timer)
    const done = current
    current = undefined
    done?.resolve(result)
    next()
  }
  const replace = (result: JobResult): void => {
    const old = thread
    thread = undefined
    known = new Set()
    void old?.terminate()
    finish(result)
  }
  const next = (): void => {
    if (current !== undefined || waiting.size() === 0) {
      if (current === undefined) thread?.unref()
      return
    }
    if (thread === undefined) return start()
    if (!isReady) return
    current = waiting.take()
    if (current === undefined) return
    thread.ref()
    timer = setTimeout(() => replace(TOO_LONG), deadlines[current.job.kind])
    thread.postMessage(shorten(current.job, known), [])
  }
  const start = (): void => {
    isReady = false
    const started = new Worker(new URL('render-thread.ts', import.meta.url))
    thread = started
    timer = setTimeout(() => fail('it did not start'), START_MS)
    const fail = (reason: string): void => {
      if (thread !== started) return
      current ??= waiting.take()
      replace({ kind: 'ended', reason: `the render thread failed: ${reason}` })
    }
    started.on('message', (message: JobResult | 'ready') => {
      if (thread !== started) return
      if (message !== 'ready') return finish(message)
      clearTimeout(timer)
      isReady = true
      next()
    })
    started.on('error', (error: unknown) => fail(error instanceof Error ? error.message : 'it threw'))
    started.on('exit', () => fail('it ended'))
  }
  const ask = async (businessId: string, job: Job): Promise<JobResult> => {
    const { promise, resolve } = Promise.withResolvers<JobResult>()
    if (!waiting.add(businessId, { job, resolve })) throw new RequestError('unavailable', TOO_MANY)
    next()
    return await promise
  }
  return {
    of: (businessId) => ({
      render: (job) => ask(businessId, { kind: 'render', ...job }),
      check: (parts) => ask(businessId, { kind: 'check', parts }),
      compileMjml: (source) => ask(businessId, { kind: 'mjml', source }),
    }),
    async close() {
      clearTimeout(timer)
      for (let left = waiting.take(); left; left = waiting.take()) left.resolve(CLOSED)
      const old = thread
      thread = undefined
      current?.resolve(CLOSED)
      current = undefined
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
