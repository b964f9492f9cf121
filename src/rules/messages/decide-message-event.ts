import type { DecisionContext } from '../changes.ts'
import { meaningOfName } from '../events/interpret.ts'
import { recordEvent, rememberKey } from '../events/record-event.ts'
import { contactById } from '../identity/contact-by-id.ts'
import type { MessageEventDecision, MessageEventRequest, Item } from '../item.ts'

/**
 * Records an event of a message. After a merge, it counts for the survivor. Events of erased people are not recorded.
 */
export function decideMessageEvent(context: DecisionContext, item: Item<MessageEventRequest>): MessageEventDecision {
  const { businessId, receivedAt, fact } = item
  const { event, messageId, occurredAt, properties, key } = fact
  const contact = contactById(context.state, item)
  if (!contact) return { contactId: null, deduped: false, warnings: [] }
  if (context.state.keys.has(businessId, key)) return { contactId: contact.id, deduped: true, warnings: [] }
  rememberKey(context, { businessId, key, event, contactId: contact.id, occurredAt })
  context.changes.messageEvents.push({ businessId, messageId, event })
  const recorded = {
    event,
    occurredAt,
    meaning: meaningOfName(event),
    properties,
    visitorId: null,
    value: null,
    idempotencyKey: null,
  }
  const warnings = recordEvent(context, contact, { businessId, receivedAt, source: 'live', fact: recorded })
  return { contactId: contact.id, deduped: false, warnings }
}
