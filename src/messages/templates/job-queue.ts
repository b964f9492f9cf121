/** Waiting jobs by business. A save sends its jobs one after the other. */
export const MAX_OF_BUSINESS = 20
export const MAX_WAITING = 200

export interface JobQueue<Job> {
  /** Returns false when too many wait. */
  add(businessId: string, job: Job): boolean
  /** The oldest job of the business that has waited longest for its turn; undefined when `fits` rejects it. */
  take(fits?: (job: Job) => boolean): Job | undefined
  /** Makes a job the next one of its business, whose turn comes last. Any number may wait. */
  putBack(businessId: string, job: Job): void
  size(): number
}

export function createJobQueue<Job>(): JobQueue<Job> {
  /** In the order of their turns. */
  const queues = new Map<string, Job[]>()
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
    take(fits = () => true) {
      for (const [businessId, queue] of queues) {
        const [job] = queue
        if (job === undefined || !fits(job)) return undefined
        queue.shift()
        queues.delete(businessId)
        if (queue.length > 0) queues.set(businessId, queue)
        size -= 1
        return job
      }
      return undefined
    },
    putBack(businessId, job) {
      const queue = queues.get(businessId) ?? []
      queue.unshift(job)
      queues.set(businessId, queue)
      size += 1
    },
    size: () => size,
  }
}
