/** The signing keys of webhooks. */
import { SealError, openSecret } from '../stores/seal-secret.ts'
import type { SealedDestination } from './destinations.ts'
import type { WebhookSecret } from './settings.ts'

/** How long the previous signing key of a webhook still signs, beside the new one. */
const CHANGE_OVER_MS = 86_400_000

/** The new secret of a destination. That of a webhook has the previous key, if it can be opened. */
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
