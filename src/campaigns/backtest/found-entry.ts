/** A trigger other than an event of the timeline. Instants are epoch milliseconds. */
export interface FoundEntry {
  contactId: string
  enrolledAt: number
  receivedAt: number
  /** Of all entries with the same value, at most one enters. Absent: each may enter. */
  once?: string
}
