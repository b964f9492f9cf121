/**
 * One thread that does the jobs of templates, and is restarted when a job takes too long. Businesses take turns: a
 * business delays each job of another one by at most one of its own, and by BATCH_MS.
 */
import { Worker } from 'node:worker_threads'
import { createJobQueue } from './job-queue.ts'
import { type Job, type JobResult, type TimedResult, oldestBeyondLimit } from './jobs.ts'
import { createRunningJob } from './running-job.ts'

/** Limit for the start of the thread, in milliseconds. */
const START_MS = 60_000
/** After these a thread is replaced that has jobs, runs none, and has sent no results. */
const NO_ANSWER_MS = 120_000
/** Messages of a business that are sent to the thread together. Handing one over takes longer than rendering it. */
const MAX_BATCH = 16

export const TOO_LONG = 'the template takes too long'
const CLOSED: JobResult = { kind: 'ended', reason: 'the process stops' }

export interface QueuedJob {
  businessId: string
  job: Job
  resolve: (result: JobResult) => void
}

export interface ThreadOptions {
  /** Milliseconds. */
  deadlines: Record<Job['kind'], number>
  /** How long each job of a business has taken, in milliseconds. */
  onTimes(businessId: string, times: readonly number[]): void
  /** Takes a job whose deadline has passed. Without it the job fails. */
  onLate?(job: QueuedJob): void
}

export interface RenderThread {
  /** Returns false when too many wait. */
  add(job: QueuedJob): boolean
  /** Makes jobs the next ones of their business. Any number may wait. */
  putBack(businessId: string, jobs: readonly QueuedJob[]): void
  /** Removes the jobs of a business that wait. */
  remove(businessId: string): QueuedJob[]
  /** Ends the remaining jobs. */
  close(): Promise<void>
}

/** Starts the thread with the first job. */
export function runRenderThread({ deadlines, onTimes, onLate }: ThreadOptions): RenderThread {
  const waiting = createJobQueue<QueuedJob>()
  let thread: Worker | undefined
  let running = createRunningJob()
  let isReady = false
  let isNextScheduled = false
  /** Jobs that the thread has, of one business. */
  let current: QueuedJob[] = []
  let timer: NodeJS.Timeout | undefined
  let known = new Set<string>()

  /** Those of the current jobs that have no result are sent again. */
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
  const replace = (results: ReadonlyMap<number, JobResult>): void => {
    const old = thread
    thread = undefined
    known = new Set()
    void old?.terminate()
    finish(results)
  }
  const accept = (timed: readonly TimedResult[]): void => {
    const businessId = current[0]?.businessId ?? ''
    finish(new Map(timed.map(({ result }, place) => [place, result])))
    onTimes(
      businessId,
      timed.map(({ ms }) => ms),
    )
  }
  const failRunning = (reason: string): void => replace(new Map([[running.place(), { kind: 'ended', reason }]]))
  /** By the clock of the thread: when this one stands still, its answer may be there and not read yet. */
  const checkTime = (deadline: number, sentAt: number): void => {
    const left = deadline - (running.ms() ?? 0)
    if (left <= 0) return endLate()
    if (performance.now() - sentAt > NO_ANSWER_MS) return replace(new Map())
    timer = setTimeout(checkTime, left, deadline, sentAt)
  }
  const endLate = (): void => {
    if (onLate === undefined) return failRunning(TOO_LONG)
    const late = current[running.place()]
    current = current.filter((one) => one !== late)
    replace(new Map())
    if (late !== undefined) onLate(late)
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
    const deadline = deadlines[first.job.kind]
    timer = setTimeout(checkTime, deadline, deadline, performance.now())
    thread.postMessage(
      current.map(({ job }) => shorten(job, known)),
      [],
    )
  }
  const start = (): void => {
    isReady = false
    running = createRunningJob()
    const started = new Worker(new URL('render-thread.ts', import.meta.url), { workerData: running.memory })
    thread = started
    timer = setTimeout(() => fail('it did not start'), START_MS)
    const fail = (reason: string): void => {
      if (thread !== started) return
      // A thread that cannot start fails the job that it was started for. One that dies while it has none fails none.
      if (!isReady) current = waiting.take()
      failRunning(`the render thread failed: ${reason}`)
    }
    started.on('message', (message: TimedResult[] | 'ready') => {
      if (thread !== started) return
      if (message !== 'ready') return accept(message)
      clearTimeout(timer)
      isReady = true
      next()
    })
    started.on('error', (error: unknown) => fail(error instanceof Error ? error.message : 'it threw'))
    started.on('exit', () => fail('it ended'))
  }
  return {
    add(job) {
      const isAdded = waiting.add(job.businessId, job)
      if (isAdded) scheduleNext()
      return isAdded
    },
    putBack(businessId, jobs) {
      waiting.putBack(businessId, jobs)
      scheduleNext()
    },
    remove: (businessId) => waiting.remove(businessId),
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
