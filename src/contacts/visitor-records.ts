/** The records of `save_changes` that are about browsers. */
import type { Changes, VisitorChange } from '../rules/changes.ts'
import { type State, survivorOf } from '../rules/state.ts'
import { inSnakeCase } from './in-snake-case.ts'
import { timelineLine } from './timeline-line.ts'

export function visitorRecords(state: State, changes: Changes) {
  const survivor = (id: string | null) => id && survivorOf(state, id)
  return {
    visitors: [...changes.visitors.values()].map((change) =>
      inSnakeCase(change, {
        // A merge of this batch has moved the browser by then.
        assumedContactId: survivor(change.assumedContactId),
        contactId: survivor(change.contactId),
        currentContactId: survivor(change.currentContactId),
        joinedContactId: survivor(change.joinedContactId),
      }),
    ),
    visitorLinks: changes.visitorLinks.map((link) => inSnakeCase(link, { contactId: survivor(link.contactId) })),
    visitorEvents: [...changes.visitorEvents.values()].flat().map((event) => ({
      business_id: event.businessId,
      visitor_id: event.fact.visitorId,
      event_id: event.eventId,
      event: event.fact.event,
      occurred_at: event.fact.occurredAt,
      received_at: event.receivedAt,
      // Whose it is, is written once it is somebody's.
      line: timelineLine({ ...event, contactId: '' }),
    })),
    // Those that somebody identified too: one statement locks them all, in order.
    sightings: [...changes.sightings, ...[...changes.visitors.values()].map(toBeThere)].map((row) => inSnakeCase(row)),
  }
}

const toBeThere = ({ businessId, visitorId }: VisitorChange) => ({ businessId, visitorId })
