/** `admin destination test`. */
import { lacksTestCode, testDestination } from '../deliveries/test-destination.ts'
import { type Command, UsageError } from './command.ts'
import { openGuard, withDestination } from './find-destination.ts'
import { withOperatorErrors } from './read-destination.ts'
import { SECRETS_KEY_NOTE, secretsKeyReminder } from './require-secrets-key.ts'

const TEST_MS = 20_000

export const test: Command = {
  name: 'destination test',
  summary: 'Send a test conversion now, which is counted nowhere, and show the outcome',
  positionals: ['ID'],
  notes:
    'Meta shows it under the test code (setting testEventCode, required). Google only checks it. A webhook gets the type "test".\n' +
    `This command sends it itself, so the test does not check the workers. ${SECRETS_KEY_NOTE}`,
  async run(config, args) {
    const { kind, ...result } = await withDestination(config, args, async (sql, found) => {
      if (lacksTestCode(found)) throw new UsageError(TEST_CODE_MISSING)
      const { secretsKey } = config
      const context = { guard: await openGuard(config, sql), secretsKey, timeoutMs: TEST_MS }
      return withOperatorErrors(() => testDestination(found, context))
    })
    const reason = 'reason' in result ? result.reason : null
    const text =
      reason === null
        ? `The destination accepted it${await secretsKeyReminder(config)}`
        : `The destination did not accept it: ${reason}`
    return { json: { taken: kind === 'sent', reason }, text, exitCode: kind === 'sent' ? 0 : 1 }
  },
}

const TEST_CODE_MISSING =
  'Meta needs a test code. Set it with admin destination update ID --set testEventCode=TEST…, and reset it after the test'
