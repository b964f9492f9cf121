/** The records of `save_changes` that are about browsers. */
import type { Changes, VisitorChange } from '../rules/changes.ts'
import { type State, survivorOf } from '../rules/state.ts'
import { inSnakeCase } from './in-snake-case.ts'
import { encodeEvent } from '../outbox/encode-event.ts'

export function visitorRecords(state: State, changes: Changes) {
  const survivor = (id: string | null) => id && survivorOf(state, id)
  return {
    visitors: [...changes.visitors.values()].map(({ visitor, ...change }) =>
      inSnakeCase(change, {
        // A merge of this batch has moved the browser by then.
        assumedContactId: survivor(change.assumedContactId),
        contactId: survivor(change.contactId),
        currentContactId: survivor(visitor.current),
        joinedContactId: survivor(change.joinedContactId),
        crowded: visitor.crowded,
        waits: visitor.waits,
      }),
    ),
    visitorLinks: changes.visitorLinks.map(({ link, ...change }) =>
      inSnakeCase(change, link, { contactId: survivor(link.contactId), waitsFor: survivor(link.waitsFor) }),
    ),
    // Whoever waits has not been merged by then; whose it is was made in this batch at the latest.
    linkSteps: changes.linkSteps.map((step) =>
      inSnakeCase(step, step.waits ? {} : { contactId: survivor(step.contactId), ...step.newest }),
    ),
    listedVisitors: [...changes.listedVisitors.values()].map(({ listing, ...row }) =>
      inSnakeCase(row, listing, { contactId: survivor(row.contactId) }),
    ),
    visitorEvents: [...changes.visitorEvents.values()].flat().map((event) => ({
      business_id: event.businessId,
      visitor_id: event.fact.visitorId,
      event_id: event.eventId,
      event: event.fact.event,
      occurred_at: event.fact.occurredAt,
      received_at: event.receivedAt,
      // Whose it is, is written once it is somebody's.
      line: encodeEvent({ ...event, contactId: '' }),
    })),
    // Those that somebody identified too: one statement locks them all, in order.
    sightings: [...changes.sightings, ...[...changes.visitors.values()].map(toBeThere)].map((row) => inSnakeCase(row)),
  }
}

const toBeThere = ({ businessId, visitorId }: VisitorChange) => ({ businessId, visitorId })
