/** Stores the message instead of sending it. The default of every channel. */
import { Type } from '@sinclair/typebox'
import { createBatcher } from '../../async/batcher.ts'
import { closed } from '../../rules/schemas.ts'
import { MESSAGE_CHANNELS } from '../templates/template.ts'
import { logMessages } from './logged-messages.ts'
import type { OutgoingMessage, Provider } from './provider.ts'

export const log: Provider = {
  name: 'log',
  channels: MESSAGE_CHANNELS,
  settings: Type.Object({}, closed),
  secrets: Type.Object({}, closed),
  complete: (settings) => settings,
  check: () => [],
  targets: () => [],
  recipientOf: () => '',
  replaceSecrets: () => ({}),
  open(_, { sql }) {
    const batcher = createBatcher((messages: OutgoingMessage[]) => logMessages(sql, messages), { most: 64 })
    return {
      async send(message) {
        try {
          const isLogged = await batcher.run(message)
          return isLogged
            ? { kind: 'accepted' }
            : { kind: 'refused', reason: 'the contact was erased', blame: 'recipient' }
        } catch (error) {
          // Even if it was stored: storing it again changes nothing.
          const cause = error instanceof Error ? error.message : String(error)
          return { kind: 'temporary', reason: `Postgres has not stored the message: ${cause}` }
        }
      },
      close: () => undefined,
    }
  },
}
