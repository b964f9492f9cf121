export const STATES = ['queued', 'sent', 'dead'] as const
export type State = (typeof STATES)[number]

/** Filters of the list, which are in the URL. */
export interface DeliverySearch {
  state?: State
  /** ID of a destination. */
  destination?: string
}

export function readDeliveries({ state, destination }: Record<string, unknown>): DeliverySearch {
  const known = STATES.find((one) => one === state)
  return {
    ...(known && { state: known }),
    ...(typeof destination === 'string' && /^[\da-f-]{36}$/i.test(destination) && { destination }),
  }
}
