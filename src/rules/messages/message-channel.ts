import { CHANNELS } from '../events/facts.ts'

/** Channels that a message can be sent on. `webhook` needs no address of a contact. */
export const MESSAGE_CHANNELS = [...CHANNELS, 'webhook'] as const
export type MessageChannel = (typeof MESSAGE_CHANNELS)[number]
