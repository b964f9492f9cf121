import type { DecisionContext } from '../../changes.ts'
import type { ContactState } from '../../state.ts'
import { type WindowRefresh, uniteRefreshes } from './window-refresh.ts'

/** Requests a reading of the timeline. Call it when an event is recorded for a contact. */
export function refreshForEvent(
  context: DecisionContext,
  contact: ContactState,
  event: string,
  { receivedAt, isBatch }: { receivedAt: number; isBatch: boolean },
): void {
  const { watch } = context
  if (!watch?.segments.windowEvents.has(event)) return
  // A replayed event keeps its time of receipt, which may be long ago.
  const isReplay = watch.isBulk && !isBatch
  request(context, contact, isReplay ? { receivedAt: watch.now, cause: 'bulk' } : { receivedAt, cause: null })
}

/** Call it when a contact gets events of one name that were received earlier. */
export function refreshForHistory(context: DecisionContext, contact: ContactState, event: string): void {
  const { watch } = context
  if (!watch?.segments.windowEvents.has(event)) return
  request(context, contact, { receivedAt: watch.now, cause: watch.isBulk ? 'bulk' : 'live' })
}

/** Call it when another contact is merged into this one. */
export function refreshForMerge(context: DecisionContext, survivor: ContactState, receivedAt: number): void {
  if (context.watch?.segments.watched.windows) request(context, survivor, { receivedAt, cause: 'merge' })
}

function request(
  { changes }: DecisionContext,
  { id: contactId, businessId }: ContactState,
  made: Pick<WindowRefresh, 'receivedAt' | 'cause'>,
): void {
  const known = changes.windowRefreshes.get(contactId)
  const refresh = { businessId, contactId, isNew: false, ...made }
  changes.windowRefreshes.set(contactId, known ? uniteRefreshes(known, refresh) : refresh)
}
