/** The records of `save_changes` for browsers. */
import type { Changes } from '../../rules/changes.ts'
import type { VisitorChange } from '../../rules/visitors/visitor-changes.ts'
import { type State, survivorOf } from '../../rules/state.ts'
import { inSnakeCase } from '../../stores/in-snake-case.ts'
import { writeRecords } from '../../stores/write-columns.ts'
import { encodeEvent } from '../../outbox/timeline-row.ts'

export function visitorRecords(state: State, changes: Changes) {
  const survivor = (id: string | null) => id && survivorOf(state, id)
  const sightings = [...changes.sightings, ...[...changes.visitors.values()].map(visitorKey)]
  return {
    visitors: writeRecords(
      [...changes.visitors.values()].map(({ visitor, ...change }) =>
        inSnakeCase(change, {
          // A merge in this batch moves the visitor first.
          assumedContactId: survivor(change.assumedContactId),
          contactId: survivor(change.contactId),
          currentContactId: survivor(visitor.current),
          joinedContactId: survivor(change.joinedContactId),
          crowded: visitor.crowded,
          waits: visitor.waits,
        }),
      ),
    ),
    visitor_links: writeRecords(
      changes.visitorLinks.map(({ link, ...change }) =>
        inSnakeCase(change, link, { contactId: survivor(link.contactId), waitsFor: survivor(link.waitsFor) }),
      ),
    ),
    // A contact whose links begin to wait is not merged in this batch. The contact that gets waiting links exists by
    // this time.
    link_steps: writeRecords(
      changes.linkSteps.map((step) =>
        inSnakeCase(step, step.waits ? {} : { contactId: survivor(step.contactId), ...step.newest }),
      ),
    ),
    listed_visitors: writeRecords(
      [...changes.listedVisitors.values()].map(({ listing, ...row }) =>
        inSnakeCase(row, listing, { contactId: survivor(row.contactId) }),
      ),
    ),
    visitor_events: writeRecords(
      [...changes.visitorEvents.values()].flat().map((event) => ({
        business_id: event.businessId,
        visitor_id: event.fact.visitorId,
        event_id: event.eventId,
        event: event.fact.event,
        occurred_at: event.fact.occurredAt,
        received_at: event.receivedAt,
        // The contact is set once the visitor is identified.
        line: encodeEvent({ ...event, contactId: '' }),
      })),
    ),
    // Includes the visitors that are identified here: one statement locks them all, in order.
    sightings: writeRecords(sightings.map((row) => inSnakeCase(row))),
  }
}

const visitorKey = ({ businessId, visitorId }: VisitorChange) => ({ businessId, visitorId })
