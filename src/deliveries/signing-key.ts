/** The signing keys of webhooks. */
import { SealError, openSecret } from '../stores/seal-secret.ts'
import type { SealedDestination } from './destinations.ts'
import type { WebhookSecret } from './settings.ts'

/** Milliseconds for which the previous signing key still signs in addition to the new one. */
const CHANGE_OVER_MS = 86_400_000

/**
 * Returns the new secret of a destination. The secret of a webhook includes the previous key, if that can be opened.
 */
export function withFormerKey(
  { kind, id, secret: sealed }: SealedDestination,
  secret: object,
  secretsKey: string,
): object {
  if (kind !== 'webhook') return secret
  try {
    const { signingKey } = openSecret(sealed, id, secretsKey) as WebhookSecret
    return { ...secret, former: { signingKey, until: Date.now() + CHANGE_OVER_MS } }
  } catch (error) {
    if (error instanceof SealError) return secret
    throw error
  }
}
