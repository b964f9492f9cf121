/** The data of the timeline for one count or sum of a contact, as of a period. */
export interface WindowReading {
  /**
   * Number of events that were received before the period and are still in the window at its end, if the window ends.
   */
  count: number
  /** Sum of these events, as a decimal. */
  total: string
  /** Time at which the first of these events leaves the window (epoch ms); null: never. */
  leavesAt: number | null
  /** The other events: those that were received in or after the period, and those that leave the window in it. */
  recent: WindowEvent[]
}

/** An event that counts. */
export interface WindowEvent {
  receivedAt: number
  /** The first millisecond in which the event is no longer in the window; null: never. */
  leavesAt: number | null
  /** The amount that it adds to a sum, as a decimal. */
  added: string
  /** True when the event came in a batch. */
  isBatch: boolean
}

export const emptyReading = (): WindowReading => ({ count: 0, total: '0', leavesAt: null, recent: [] })
