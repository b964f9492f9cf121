/** Waiting jobs by business. A save sends its jobs one after the other. */
export const MAX_OF_BUSINESS = 20
export const MAX_WAITING = 200

export interface JobQueue<Job> {
  /** Returns false when too many wait. */
  add(businessId: string, job: Job): boolean
  /**
   * The oldest job of the business that has waited longest for its turn, and when that `fits`, its next ones that do: at
   * most `most` together.
   */
  take(most?: number, fits?: (job: Job) => boolean): Job[]
  /** Makes jobs the next ones of their business, which waits for its next turn. Any number may wait. */
  putBack(businessId: string, jobs: readonly Job[]): void
  /** Removes the jobs of a business. */
  remove(businessId: string): Job[]
  size(): number
}

export function createJobQueue<Job>(): JobQueue<Job> {
  /** In the order of their turns, but that of `last`, which comes after the others. */
  const queues = new Map<string, Job[]>()
  let last: string | undefined
  let size = 0
  return {
    add(businessId, job) {
      const queue = queues.get(businessId) ?? []
      if (size >= MAX_WAITING || queue.length >= MAX_OF_BUSINESS) return false
      queue.push(job)
      queues.set(businessId, queue)
      size += 1
      return true
    },
    take(most = 1, fits = () => true) {
      const left = last === undefined ? undefined : queues.get(last)
      if (last !== undefined && left !== undefined) {
        queues.delete(last)
        queues.set(last, left)
      }
      for (const [businessId, queue] of queues) {
        last = businessId
        const end = queue.findIndex((job) => !fits(job))
        const jobs = queue.splice(0, Math.max(1, Math.min(most, end === -1 ? queue.length : end)))
        if (queue.length === 0) queues.delete(businessId)
        size -= jobs.length
        return jobs
      }
      return []
    },
    putBack(businessId, jobs) {
      if (jobs.length === 0) return
      queues.set(businessId, [...jobs, ...(queues.get(businessId) ?? [])])
      size += jobs.length
    },
    remove(businessId) {
      const jobs = queues.get(businessId) ?? []
      queues.delete(businessId)
      size -= jobs.length
      return jobs
    },
    size: () => size,
  }
}
