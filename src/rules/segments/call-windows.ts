import type { DecisionContext } from '../changes.ts'
import type { ContactState } from '../state.ts'
import { type WindowCall, uniteCalls } from './window-call.ts'

/** Call it when an event is recorded for a contact. */
export function callForEvent(
  context: DecisionContext,
  contact: ContactState,
  event: string,
  { receivedAt, isBatch }: { receivedAt: number; isBatch: boolean },
): void {
  const { watch } = context
  if (!watch?.segments.windowEvents.has(event)) return
  // A replayed event keeps its receipt, which may be long past.
  const isReplay = watch.isBulk && !isBatch
  call(context, contact, isReplay ? { receivedAt: watch.now, cause: 'bulk' } : { receivedAt, cause: null })
}

/** Call it when a contact gets events that were received before, under one name. */
export function callForHistory(context: DecisionContext, contact: ContactState, event: string): void {
  const { watch } = context
  if (!watch?.segments.windowEvents.has(event)) return
  call(context, contact, { receivedAt: watch.now, cause: watch.isBulk ? 'bulk' : 'live' })
}

/** Call it when another contact is merged into this one. */
export function callForMerge(context: DecisionContext, survivor: ContactState, receivedAt: number): void {
  if (context.watch?.segments.watched.windows) call(context, survivor, { receivedAt, cause: 'merge' })
}

function call(
  { changes }: DecisionContext,
  { id: contactId, businessId }: ContactState,
  made: Pick<WindowCall, 'receivedAt' | 'cause'>,
): void {
  const known = changes.windowCalls.get(contactId)
  const asked = { businessId, contactId, isNew: false, ...made }
  changes.windowCalls.set(contactId, known ? uniteCalls(known, asked) : asked)
}
