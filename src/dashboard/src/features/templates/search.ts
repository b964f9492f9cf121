import { type MessageChannel, MESSAGE_CHANNELS } from '../rules/channels.ts'

/** Filters of the list, which are in the URL. */
export interface TemplatesSearch {
  /** Part of the name. */
  query?: string
  channel?: MessageChannel
}

export function readTemplates({ query, channel }: Record<string, unknown>): TemplatesSearch {
  const known = MESSAGE_CHANNELS.find((one) => one === channel)
  return {
    ...(typeof query === 'string' && query !== '' && { query }),
    ...(known && { channel: known }),
  }
}
