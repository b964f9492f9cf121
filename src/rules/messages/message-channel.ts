import { CHANNELS } from '../events/facts.ts'

/** A message can go by these. `webhook` has no address of a contact. */
export const MESSAGE_CHANNELS = [...CHANNELS, 'webhook'] as const
export type MessageChannel = (typeof MESSAGE_CHANNELS)[number]
