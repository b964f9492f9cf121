/** A person's action on a message, recorded as an event of the contact. */
import { type Static, Type } from '@sinclair/typebox'
import { oneOf } from '../schemas.ts'

export const MESSAGE_EVENTS = ['email_opened', 'email_clicked'] as const
export type MessageEvent = (typeof MESSAGE_EVENTS)[number]

/** The fact as the stream carries it. Times are epoch ms. */
export const MessageEventFact = Type.Object({
  event: oneOf(MESSAGE_EVENTS),
  messageId: Type.String({ pattern: '^[\\da-f]{8}(-[\\da-f]{4}){3}-[\\da-f]{12}$' }),
  occurredAt: Type.Integer({ minimum: -8.64e15, maximum: 8.64e15 }),
  /** Compact JSON text. */
  properties: Type.String(),
  /** Two events with the same key count as one. Callers cannot send such a text as an idempotency key. */
  key: Type.String(),
})
export type MessageEventFact = Static<typeof MessageEventFact>

const DAY_MS = 86_400_000

/**
 * Returns a key that allows one event per message and link in 24 hours. The first 24 hours start with the message.
 * @param link identifies the link within the message; empty for an open
 * @param sentAt when the message was claimed, in epoch ms
 */
export function messageEventKey(
  { event, messageId, occurredAt }: Pick<MessageEventFact, 'event' | 'messageId' | 'occurredAt'>,
  { link, sentAt }: { link: string; sentAt: number },
): string {
  const day = Math.max(0, Math.floor((occurredAt - sentAt) / DAY_MS))
  return `message\0${messageId}\0${event}\0${link}\0${day}`
}
