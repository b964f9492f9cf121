/** What the timeline has for one count or sum of a contact, as of a period. */
export interface WindowReading {
  /** Of the events that were received before the period and are still in the window at its end, if the window ends: how many there are, */
  count: number
  /** their sum as a decimal, */
  total: string
  /** and when the first of them leaves the window (epoch ms); null: never. */
  leavesAt: number | null
  /** The other events: those that were received in the period or since, and those that leave in it. */
  recent: WindowEvent[]
}

/** An event that counts. */
export interface WindowEvent {
  receivedAt: number
  /** The first millisecond in which it is not in the window; null: never. */
  leavesAt: number | null
  /** What it adds to a sum, as a decimal. */
  added: string
  /** From a batch. */
  isBatch: boolean
}

export const emptyReading = (): WindowReading => ({ count: 0, total: '0', leavesAt: null, recent: [] })
