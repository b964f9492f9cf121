/** The senders that a step or a campaign names. */
import { MESSAGE_CHANNELS } from '../messages/message-channel.ts'
import { type Faults, fault } from '../segments/reading/reading.ts'
import type { ChannelSenders } from './definition.ts'
import { take, takeObject } from './read-words.ts'

/** As keys of custom fields. */
export const SENDER_KEY = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/
export const MAX_SENDER_KEY = 64

export const isSenderKey = (sent: unknown): sent is string =>
  typeof sent === 'string' && sent.length <= MAX_SENDER_KEY && SENDER_KEY.test(sent)

export function readSenderKey(reading: Faults, sent: unknown, path: string): string | undefined {
  if (isSenderKey(sent)) return sent
  fault(reading, path, 'sender_key', { max: MAX_SENDER_KEY })
  return undefined
}

/** Absent, or without any: undefined. */
export function readSenders(reading: Faults, sent: unknown, path: string): ChannelSenders | undefined {
  if (sent === undefined || sent === null) return undefined
  const raw = takeObject(reading, sent, path, [...MESSAGE_CHANNELS])
  if (raw === undefined) return undefined
  const named = MESSAGE_CHANNELS.flatMap((channel) => {
    const value = take(raw, channel)
    const key = value === undefined ? undefined : readSenderKey(reading, value, `${path}.${channel}`)
    return key === undefined ? [] : [[channel, key] as const]
  })
  return named.length === 0 ? undefined : Object.fromEntries(named)
}
