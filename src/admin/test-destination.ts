/** `admin destination test`. */
import type { Config } from '../config.ts'
import type { Conversion } from '../deliveries/conversion.ts'
import { type Destination, newDestinationId } from '../deliveries/destinations.ts'
import { cacheGoogleTokens } from '../deliveries/google-token.ts'
import { sendConversion } from '../deliveries/send-conversion.ts'
import { type DestinationSetup, readSetup } from '../deliveries/settings.ts'
import { openSecret } from '../stores/seal-secret.ts'
import { type Command, UsageError } from './command.ts'
import { openGuard, withDestination } from './find-destination.ts'
import { withOperatorErrors } from './read-destination.ts'

const TEST_MS = 20_000

export const SECRETS_KEY_NOTE = 'Start the workers with the same SECRETS_KEY as this command.'

export const test: Command = {
  name: 'destination test',
  summary: 'Send a test conversion now, which is counted nowhere, and show the outcome',
  positionals: ['ID'],
  notes:
    'Meta shows it under the test code (setting testEventCode, required). Google only checks it. A webhook gets the type "test".\n' +
    `This command sends it itself, so the test does not check the workers. ${SECRETS_KEY_NOTE}`,
  async run(config, args) {
    const { kind, ...result } = await withDestination(config, args, async (_, found) => {
      const setup = withOperatorErrors(() => readSetup(found.kind, found.settings, open(found, config)))
      requireTestCode(setup)
      const guard = await openGuard(config)
      const deps = { guard, tokens: cacheGoogleTokens(guard), now: Date.now }
      const sending = { setup, conversion: madeUpConversion(found), isTest: true }
      return sendConversion(deps, sending, AbortSignal.timeout(TEST_MS))
    })
    const reason = 'reason' in result ? result.reason : null
    const text =
      reason === null
        ? `The destination accepted it. ${SECRETS_KEY_NOTE}`
        : `The destination did not accept it: ${reason}`
    return { json: { taken: kind === 'sent', reason }, text, exitCode: kind === 'sent' ? 0 : 1 }
  },
}

function open({ id, secret }: { id: string; secret: string }, { secretsKey }: Config): object {
  return withOperatorErrors(() => openSecret(secret, id, secretsKey))
}

/** Without a test code, Meta would count the conversion. */
function requireTestCode(setup: DestinationSetup): void {
  if (setup.kind === 'meta' && setup.settings.testEventCode === undefined)
    throw new UsageError(
      'Meta needs a test code. Set it with admin destination update ID --set testEventCode=TEST…, and reset it after the test',
    )
}

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
