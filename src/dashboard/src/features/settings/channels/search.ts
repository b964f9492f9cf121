import { type MessageChannel, MESSAGE_CHANNELS } from '../../rules/channels.ts'

/** What is in the URL of the channels. */
export interface ChannelsSearch {
  /** Shows the log of this channel instead of the list of channels. */
  log?: MessageChannel
  /** MessageChannel whose settings are open at first. */
  channel?: MessageChannel
}

export function readChannels(search: Record<string, unknown>): ChannelsSearch {
  const [log, channel] = [search['log'], search['channel']].map((given) =>
    MESSAGE_CHANNELS.find((one) => one === given),
  )
  return { ...(log && { log }), ...(channel && { channel }) }
}
