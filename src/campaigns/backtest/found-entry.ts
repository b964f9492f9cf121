/** What triggered, beside the events of the timeline. Instants are epoch ms. */
export interface FoundEntry {
  contactId: string
  enrolledAt: number
  receivedAt: number
  /** Of all that have this one, one enters at most. Absent: each may. */
  once?: string
}
