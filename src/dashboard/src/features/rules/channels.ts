import type { MessageChannel } from '../../../../rules/messages/message-channel.ts'

export type { MessageChannel } from '../../../../rules/messages/message-channel.ts'

/** The list of the rules would bring TypeBox into the browser. */
export const MESSAGE_CHANNELS = [
  'email',
  'sms',
  'whatsapp',
  'push',
  'webhook',
] as const satisfies readonly MessageChannel[]
