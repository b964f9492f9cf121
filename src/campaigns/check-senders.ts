/** Checks the senders of a campaign's messages before it is published. */
import { type StoredChannel, connectionOf, listSenders } from '../messages/channels/channels.ts'
import { providersOf } from '../messages/channels/providers.ts'
import { openIfPossible } from '../messages/channels/sender-secrets.ts'
import type { ChannelSenders } from '../rules/campaigns/definition.ts'
import type { SendStep } from '../rules/campaigns/steps.ts'
import { type Fault, faultOf } from '../rules/faults.ts'
import { nearestSender } from '../rules/messages/choose-sender.ts'
import { MESSAGE_CHANNELS } from '../rules/messages/message-channel.ts'
import type { Queryable } from '../stores/postgres.ts'

export interface SendAt {
  step: SendStep
  path: string
}

interface CheckedSenders {
  businessId: string
  /** Those that the campaign names. */
  senders: ChannelSenders | undefined
  secretsKey: string | undefined
}

/** Faults of senders that there are not, and of those whose settings are not complete. */
export async function checkSenders(
  tx: Queryable,
  { businessId, senders, secretsKey }: CheckedSenders,
  sends: readonly SendAt[],
): Promise<Fault[]> {
  if (sends.length === 0 && senders === undefined) return []
  const stored = await listSenders(tx, businessId)
  const named = [
    ...MESSAGE_CHANNELS.map((channel) => ({ channel, key: senders?.[channel], path: `senders.${channel}` })),
    ...sends.map(({ step, path }) => ({ channel: step.channel, key: step.sender, path: `${path}.sender` })),
  ]
  const unknown = named.filter(
    ({ channel, key }) => key !== undefined && !stored.some((one) => one.channel === channel && one.key === key),
  )
  if (unknown.length > 0) return unknown.map(({ channel, path }) => faultOf(path, 'sender_of_channel', { channel }))
  return listSendersOf({ senders, stored }, sends).flatMap(({ sender, path }) => {
    const gap = findGap(businessId, sender, secretsKey)
    return gap === null ? [] : [{ ...gap, path, message: `${path}: ${gap.message}` }]
  })
}

/** Each sender once, with the path of the first message that takes it. */
function listSendersOf(
  { senders, stored }: { senders: ChannelSenders | undefined; stored: readonly StoredChannel[] },
  sends: readonly SendAt[],
): { sender: StoredChannel; path: string }[] {
  const found = new Map<StoredChannel, string>()
  for (const { step, path } of sends) {
    const key = nearestSender({ step: step.sender, campaign: senders?.[step.channel] })
    const sender = stored.find(
      (one) => one.channel === step.channel && (key === undefined ? one.isDefault : one.key === key),
    )
    if (sender !== undefined && !found.has(sender)) found.set(sender, `${path}.channel`)
  }
  return [...found].map(([sender, path]) => ({ sender, path }))
}

/** Returns what the settings of a sender lack; null when they are complete. */
function findGap(businessId: string, stored: StoredChannel, secretsKey: string | undefined): Fault | null {
  const { channel } = stored
  const provider = providersOf(channel).find(({ name }) => name === stored.provider)
  if (provider === undefined) return faultOf('', 'no_provider', { provider: stored.provider, channel })
  const opened = openIfPossible(connectionOf(businessId, stored), stored, secretsKey)
  if (stored.secret !== null && opened === undefined) return faultOf('', 'secrets_unopened')
  const [fault] = provider.check(stored.settings, Object.keys(opened ?? {}))
  return fault === undefined ? null : faultOf('', 'settings_incomplete', { field: fault.path })
}
