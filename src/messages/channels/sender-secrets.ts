/** Seals the secrets of senders, and opens them. */
import { SealError, openSecret, sealSecret } from '../../stores/seal-secret.ts'
import { DEFAULT_SENDER, type SenderKey, type StoredChannel } from './channels.ts'
import type { ChannelSetup } from './provider.ts'

export function sealSecrets(key: SenderKey, secrets: Record<string, unknown>, secretsKey: string): string {
  return sealSecret(secrets, ownerOf(key), secretsKey)
}

/** `connection`: see `connectionOf`. Throws SealError. */
export function openSetup(
  connection: SenderKey,
  { settings, secret }: Pick<StoredChannel, 'settings' | 'secret'>,
  secretsKey: string | undefined,
): ChannelSetup {
  return { settings, secret: secret === null ? {} : { ...openSecret(secret, ownerOf(connection), secretsKey) } }
}

/** Undefined when there is none, or it cannot be decrypted. */
export function openIfPossible(
  connection: SenderKey,
  stored: Pick<StoredChannel, 'settings' | 'secret'>,
  secretsKey: string | undefined,
): Record<string, unknown> | undefined {
  if (stored.secret === null) return undefined
  try {
    return openSetup(connection, stored, secretsKey).secret
  } catch (error) {
    if (error instanceof SealError) return undefined
    throw error
  }
}

/** The context that the secrets are bound to. That of `default` is the channel's, as channels had one sender once. */
const ownerOf = ({ businessId, channel, sender }: SenderKey): string =>
  sender === DEFAULT_SENDER ? `${businessId} ${channel}` : `${businessId} ${channel} ${sender}`
