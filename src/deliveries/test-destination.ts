/** Sends a made-up conversion to a destination. The platform does not count it. */
import type { TargetGuard } from '../outbound/target-guard.ts'
import type { SendResult } from '../outbound/send-result.ts'
import { openSecret } from '../stores/seal-secret.ts'
import type { Conversion } from './conversion.ts'
import { type Destination, type SealedDestination, newDestinationId } from './destinations.ts'
import { cacheGoogleTokens } from './google-token.ts'
import { sendConversion } from './send-conversion.ts'
import { readSetup } from './settings.ts'

interface TestContext {
  guard: TargetGuard
  secretsKey: string | undefined
  timeoutMs: number
}

/** Throws SealError and SettingsError. Check `lacksTestCode` first. */
export async function testDestination(
  found: SealedDestination,
  { guard, secretsKey, timeoutMs }: TestContext,
): Promise<SendResult> {
  const setup = readSetup(found.kind, found.settings, openSecret(found.secret, found.id, secretsKey))
  const deps = { guard, tokens: cacheGoogleTokens(guard), now: Date.now }
  const sending = { setup, conversion: madeUpConversion(found), isTest: true }
  return sendConversion(deps, sending, AbortSignal.timeout(timeoutMs))
}

/** Without a test code, Meta would count the conversion. */
export const lacksTestCode = ({ kind, settings }: Destination): boolean =>
  kind === 'meta' && settings['testEventCode'] === undefined

function madeUpConversion({ id, types: [type = 'lead'] }: Destination): Conversion {
  return {
    eventId: newDestinationId(),
    contactId: id,
    event: 'test',
    type,
    occurredAt: Date.now(),
    amount: 1,
    currency: 'USD',
    idempotencyKey: null,
    emails: ['test@example.com'],
    phones: [],
    customerId: null,
    clicks: {},
  }
}
