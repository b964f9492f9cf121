/** `admin channel test`. */
import { commandActor } from '../audit/command-actor.ts'
import { readBusiness } from '../businesses/businesses.ts'
import { MAX_TESTS_A_DAY, type TestOutcome, type TestRequest, sendTest } from '../messages/channels/send-test.ts'
import { createRenderService } from '../messages/templates/renderer.ts'
import type { Fault } from '../rules/faults.ts'
import { SealError } from '../stores/seal-secret.ts'
import { businessNotFound } from './business.ts'
import { type Command, CommandError, type Report, UsageError } from './command.ts'
import { openGuard } from './find-destination.ts'
import { withPostgres } from './open-postgres.ts'
import { KEY, SECRETS_KEY_NOTE, readKey } from './read-channel.ts'
import { checkId } from './read-option.ts'

export const test: Command = {
  name: 'channel test',
  summary: 'Send a test message now, and show what the provider says',
  options: {
    ...KEY,
    to: {
      value: 'ADDRESS',
      help: 'Where it goes; for webpush the ID of a contact, whose browsers get it; a webhook needs none',
    },
    template: { value: 'ID', help: 'A template of this channel, in place of a short text' },
    contact: { value: 'ID', help: 'The contact whose values the template shows' },
    language: { value: 'CODE', help: 'In place of the language of the contact' },
  },
  required: ['business', 'channel'],
  notes: `At most ${MAX_TESTS_A_DAY} in 24 hours. This command sends it itself, from this machine. ${SECRETS_KEY_NOTE}`,
  async run(config, args) {
    const { businessId, channel } = readKey(args)
    const idOf = (name: string) => {
      const id = args.text(name)
      return id === undefined ? undefined : checkId(`--${name}`, id)
    }
    const request = {
      to: args.text('to'),
      templateId: idOf('template'),
      contactId: idOf('contact'),
      language: args.text('language'),
    }
    const renderer = createRenderService()
    try {
      const tested = await withPostgres(config, async (sql) => {
        const found = await readBusiness(sql, businessId)
        if (found === null) throw businessNotFound(businessId)
        const deps = { sql, renderer, guard: await openGuard(config, sql), config, now: Date.now }
        const actor = commandActor('admin channel test')
        return sendTest(deps, { business: { ...found, id: businessId }, actor, channel }, request)
      })
      return reportTest(tested, request)
    } catch (error) {
      if (error instanceof SealError) throw new CommandError('secrets_key', error.message)
      throw error
    } finally {
      await renderer.close()
    }
  },
}

/** Options by field of the API. */
const OPTIONS: Record<string, string> = { to: '--to', templateId: '--template' }

function describeTestFault({ path, message }: Fault, { to }: TestRequest): string {
  if (path === 'to' && to === undefined) return '--to is missing: say where the message goes'
  const option = OPTIONS[path] ?? path
  return message.startsWith(`${path} `) ? `${option}${message.slice(path.length)}` : `${option}: ${message}`
}

const WORDS = {
  accepted: 'The provider accepted it',
  refused: 'The provider refused it for good',
  temporary: 'The provider did not take it',
  unknown: 'It was handed over, but there was no answer: it may arrive',
}

function reportTest(tested: TestOutcome, request: TestRequest): Report {
  switch (tested.kind) {
    case 'tested': {
      const { kind, blame: _, ...rest } = tested.outcome
      const { messageId, provider } = tested
      const isAccepted = kind === 'accepted'
      return {
        json: { accepted: isAccepted, outcome: kind, provider, messageId, ...rest },
        text: `${WORDS[kind]} (${provider})${rest.reason === undefined ? '' : `: ${rest.reason}`}`,
        exitCode: isAccepted ? 0 : 1,
      }
    }
    case 'faults':
      throw new UsageError(tested.faults.map((fault) => describeTestFault(fault, request)).join('\n'))
    case 'too_many':
      throw new CommandError('limit_reached', `A business sends at most ${MAX_TESTS_A_DAY} test messages in 24 hours`)
    case 'template_not_found':
      throw new CommandError('template_not_found', 'The business has no such template')
    case 'sender_not_found':
      throw new CommandError('sender_not_found', 'The channel has no such sender')
    case 'contact_not_found':
      throw new CommandError('contact_not_found', 'The business has no such contact')
  }
}
