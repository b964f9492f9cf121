/**
 * Shared by the providers that accept messages by HTTP. Each of them defines only how it writes a message, and how it
 * reads the answer.
 */
import { type Static, type TObject, Type } from '@sinclair/typebox'
import type { ResponseSummary } from '../../../outbound/classify-response.ts'
import { postForAnswer } from '../../../outbound/post.ts'
import type { OutgoingRequest } from '../../../outbound/send-result.ts'
import { type Fault, faultOf } from '../../../rules/faults.ts'
import type { Blame } from '../../../rules/messages/blame.ts'
import { classifyAnswer, classifyFailure, reasonOf } from '../classify-answer.ts'
import type { OutgoingMessage, Provider, SendOutcome } from '../provider.ts'
import { showWords } from '../words.ts'

/** Thrown for a message for which no request can be made. */
export interface Unwritable {
  refused: string
}

export interface WriteContext<Settings, Secrets> {
  settings: Settings
  secret: Secrets
  /** Without a trailing slash. */
  baseUrl: string
  callbackUrl: string | undefined
  /** Epoch milliseconds. */
  now: number
}

export interface HttpProvider<Settings extends TObject, Secrets extends TObject> {
  name: string
  channels: Provider['channels']
  /** Settings, including `baseUrl`. */
  settings: Settings
  secrets: Secrets
  /** Default base URL. */
  defaultUrl(settings: Static<Settings>): string
  /** The settings that identify the account: the secrets are only for this account. */
  account: readonly string[]
  check?(settings: Static<Settings>): Fault[]
  write(
    message: OutgoingMessage,
    context: WriteContext<Static<Settings>, Static<Secrets>>,
  ): OutgoingRequest | Unwritable | Promise<OutgoingRequest | Unwritable>
  /** True when it accepts a message once for each key of the request. */
  isIdempotent: boolean
  /** Returns the provider's id of the message from a successful answer. */
  idOf(answer: unknown): unknown
  /** Returns the provider's id of the recipient from a successful answer. */
  recipientIdOf?(answer: unknown): unknown
  /** Corrects what the rules by status would get wrong. `answer` is undefined when it is not JSON. */
  judge?(answer: unknown, status: number): SendOutcome['kind'] | undefined
  /** Who is to blame for a refusal. Default: the sender. */
  blame?(answer: unknown): Blame | undefined
}

/** Maximum length of an id. */
const MAX_ID = 255

/** The field that the settings of all these providers have. */
export const baseUrl = Type.Optional(
  Type.String({
    pattern: '^https?://[^\\s/@?#]+(/[^\\s?#@]*)?$',
    maxLength: 500,
    rule: faultOf('', 'http_address'),
    description: 'Another address of the API of the provider: http or https, without a password.',
    examples: ['https://api.provider.example'],
  }),
)

/** A credential: one line of ASCII. */
export const credential = (description: string) =>
  Type.String({
    pattern: '^[\\x21-\\x7e]{1,1024}$',
    rule: faultOf('', 'credential', { max: 1024 }),
    description: `${description} 1 to 1,024 characters. Never shown.`,
    examples: ['secret'],
  })

export function httpProvider<Settings extends TObject, Secrets extends TObject>(
  one: HttpProvider<Settings, Secrets>,
): Provider {
  const urlOf = (settings: Record<string, unknown>): string => {
    const { baseUrl: own } = settings
    return (typeof own === 'string' ? own : one.defaultUrl(settings)).replace(/\/+$/, '')
  }
  const required = one.secrets.required ?? []
  return {
    name: one.name,
    channels: one.channels,
    settings: one.settings,
    secrets: one.secrets,
    complete: (settings) => settings,
    check(settings, names) {
      const faults = one.check?.(settings) ?? []
      if (!URL.canParse(urlOf(settings))) faults.push(faultOf('baseUrl', 'http_address'))
      const movers = ['baseUrl', ...one.account].join(', ')
      const missing = required.filter((name) => !names.includes(name))
      const rule = (path: string) => faultOf(path, 'secret_again', { fields: movers })
      return [...faults, ...missing.map(rule)]
    },
    targets: (settings) => (URL.canParse(urlOf(settings)) ? [{ path: 'baseUrl', url: new URL(urlOf(settings)) }] : []),
    recipientOf: (settings) => JSON.stringify([urlOf(settings), ...one.account.map((name) => settings[name])]),
    replaceSecrets: (_, given) => given,
    open({ settings, secret }, { guard, callbackUrl, now }) {
      const secrets = Object.values(secret).filter((value) => typeof value === 'string')
      return {
        async send(message, signal) {
          const context = { settings, secret, baseUrl: urlOf(settings), callbackUrl, now: now() } as WriteContext<
            Static<Settings>,
            Static<Secrets>
          >
          const request = await one.write(message, context)
          if ('refused' in request) return { kind: 'refused', reason: request.refused, blame: 'recipient' }
          try {
            const outcome = judge(one, await postForAnswer(request, guard, signal))
            return { ...outcome, ...(outcome.reason !== undefined && { reason: showWords(outcome.reason, secrets) }) }
          } catch (error) {
            return classifyFailure(error)
          }
        },
        close: () => undefined,
      }
    },
  }
}

function judge(
  one: Pick<HttpProvider<TObject, TObject>, 'isIdempotent' | 'idOf' | 'recipientIdOf' | 'judge' | 'blame'>,
  answer: ResponseSummary,
): SendOutcome {
  const body = parse(answer.text)
  const special = one.judge?.(body, answer.status)
  if (special !== undefined) return { kind: special, reason: reasonOf(answer) }
  const outcome = classifyAnswer(answer, one)
  const blame = outcome.kind === 'refused' ? one.blame?.(body) : undefined
  if (outcome.kind !== 'accepted') return { ...outcome, ...(blame && { blame }) }
  const [id, recipientId] = [one.idOf(body), one.recipientIdOf?.(body)]
  return {
    ...outcome,
    reason: reasonOf(answer),
    ...(isId(id) && { providerMessageId: showWords(id) }),
    ...(isId(recipientId) && { recipientId: showWords(recipientId) }),
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && value !== '' && value.length <= MAX_ID

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A field of a value that should be an object. */
export const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
