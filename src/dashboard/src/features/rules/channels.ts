import type { MessageChannel } from '../../../../rules/messages/message-channel.ts'

export type { MessageChannel } from '../../../../rules/messages/message-channel.ts'

/** The list of the rules would bring TypeBox into the browser. The compiler demands each channel. */
const ALL = { email: true, sms: true, whatsapp: true, push: true, webhook: true } satisfies Record<MessageChannel, true>

export const MESSAGE_CHANNELS = Object.keys(ALL) as MessageChannel[]
