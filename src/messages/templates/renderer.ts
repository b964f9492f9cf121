/**
 * Does the jobs of templates in threads, so that a slow template delays its own business: a job that takes long is ended,
 * and done again in a second thread for slow ones, where businesses go at once that have taken long before.
 */
import type { Job, JobResult, Part } from './jobs.ts'
import type { Registers } from './registers.ts'
import { type QueuedJob, runRenderThread } from './run-render-thread.ts'
import { createTimeBudget } from './time-budget.ts'

/**
 * Milliseconds, a thousand times what a usual template takes: on a busy machine, the limits of steps and memory end a
 * render before this does. The first MJML template waits until its library is loaded.
 */
const DEADLINES: Record<Job['kind'], number> = { render: 10_000, check: 10_000, mjml: 30_000 }
/** After these milliseconds a job is one for the thread for slow ones. */
const QUICK_MS = 500

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
  /** Its methods reject with RendererBusy when too many jobs wait. */
  of(businessId: string): Renderer
  /** Rejects the remaining jobs. */
  close(): Promise<void>
}

export class RendererBusy extends Error {
  override name = 'RendererBusy'

  constructor() {
    super('Too many templates are being checked and rendered.')
  }
}

export function createRenderService(deadlines = DEADLINES): RenderService {
  const budget = createTimeBudget()
  const charge = (businessId: string, times: readonly number[]): void => {
    for (const ms of times) budget.charge(businessId, ms, performance.now())
  }
  const slow = runRenderThread({ deadlines, onTimes: charge })
  /** Its library alone takes seconds to load, and much memory. */
  const mjml = runRenderThread({ deadlines, onTimes: () => undefined })
  const quick = runRenderThread({
    deadlines: { ...deadlines, render: QUICK_MS, check: QUICK_MS },
    onTimes(businessId, times) {
      charge(businessId, times)
      moveIfSpent(businessId)
    },
    onLate(job) {
      charge(job.businessId, [2 * QUICK_MS])
      slow.putBack(job.businessId, [job])
      moveIfSpent(job.businessId)
    },
  })
  const moveIfSpent = (businessId: string): void => {
    if (budget.isSpent(businessId, performance.now())) slow.putBack(businessId, quick.remove(businessId))
  }
  const threadOf = ({ businessId, job }: QueuedJob) => {
    if (job.kind === 'mjml') return mjml
    return budget.isSpent(businessId, performance.now()) ? slow : quick
  }
  const ask = async (businessId: string, job: Job): Promise<JobResult> => {
    const { promise, resolve } = Promise.withResolvers<JobResult>()
    const queued = { businessId, job, resolve }
    if (!threadOf(queued).add(queued)) throw new RendererBusy()
    return await promise
  }
  return {
    of: (businessId) => ({
      render: (job) => ask(businessId, { kind: 'render', ...job }),
      check: (parts) => ask(businessId, { kind: 'check', parts }),
      compileMjml: (source, language) => ask(businessId, { kind: 'mjml', source, language }),
    }),
    async close() {
      await Promise.all([quick, slow, mjml].map((thread) => thread.close()))
    },
  }
}
