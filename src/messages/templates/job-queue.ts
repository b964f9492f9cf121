/** Waiting jobs by business. A save sends its jobs one after the other. */
export const MAX_OF_BUSINESS = 20
export const MAX_WAITING = 200

export interface JobQueue<Job> {
  /** Returns false when too many wait. */
  add(businessId: string, job: Job): boolean
  /** The oldest job of the business that has waited longest for its turn. */
  take(): Job | undefined
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
    take() {
      for (const [businessId, queue] of queues) {
        const job = queue.shift()
        queues.delete(businessId)
        if (queue.length > 0) queues.set(businessId, queue)
        size -= 1
        return job
      }
      return undefined
    },
    size: () => size,
  }
}
