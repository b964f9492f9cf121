import type { Fault } from '../../rules/events/fault.ts'
import { readLanguage } from '../../rules/messages/choose-language.ts'
import { pushFault } from '../../rules/messages/push-size.ts'
import type { MessageChannel, Variant, Variants } from './template.ts'

export const MAX_VARIANTS = 50
export const MAX_VARIANT_BYTES = 256 * 1024
const MAX_PARAMETERS = 20

type FieldName = keyof Variant
interface Fields {
  required: FieldName[]
  /** At least one of these. */
  oneOf: FieldName[]
  optional: FieldName[]
}

const FIELDS: Record<MessageChannel, Fields> = {
  email: { required: ['subject'], oneOf: ['html', 'mjml', 'text'], optional: [] },
  sms: { required: ['text'], oneOf: [], optional: [] },
  whatsapp: {
    required: [],
    oneOf: ['providerTemplate', 'text'],
    optional: ['providerLanguage', 'parameters'],
  },
  push: { required: ['title', 'body'], oneOf: [], optional: ['url'] },
  webhook: { required: ['body'], oneOf: [], optional: [] },
}

/** The variants under the usual forms of their languages. Checks everything but the templates themselves. */
export function readVariants(
  channel: MessageChannel,
  sent: Record<string, unknown>,
): { variants: Variants } | { faults: Fault[] } {
  const entries = Object.entries(sent)
  if (entries.length === 0 || entries.length > MAX_VARIANTS)
    return fail('variants', `variants must have 1 to ${MAX_VARIANTS} languages`)
  const variants: Variants = {}
  const faults: Fault[] = []
  for (const [key, variant] of entries) {
    const path = `variants.${key.slice(0, 50)}`
    const language = readLanguage(key)
    const read = readVariant(channel, variant, path)
    if (language === null) faults.push({ path, message: `${path} must be named by a language such as en or pt-BR` })
    else if (Object.hasOwn(variants, language)) faults.push({ path, message: `${path} is there twice` })
    else if ('faults' in read) faults.push(...read.faults)
    else variants[language] = read.variant
  }
  return faults.length > 0 ? { faults } : { variants }
}

function readVariant(channel: MessageChannel, sent: unknown, path: string): { variant: Variant } | { faults: Fault[] } {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return fail(path, `${path} must be an object`)
  if (Buffer.byteLength(JSON.stringify(sent)) > MAX_VARIANT_BYTES)
    return fail(path, `${path} must have at most ${MAX_VARIANT_BYTES.toLocaleString('en-US')} bytes`)
  const fields = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null && value !== ''))
  const faults = checkFields(FIELDS[channel], fields, channel, path)
  const tooLarge = faults.length === 0 && channel === 'push' ? pushFaultOf(fields) : null
  if (tooLarge !== null) return fail(path, `${path}: ${tooLarge}`)
  return faults.length > 0 ? { faults } : { variant: fields }
}

/** Of what is the same in each message. How long the rest is shows when it is rendered: a tag may leave out anything. */
function pushFaultOf({ title = '', body = '', url = '' }: Variant): string | null {
  const parts = [title, body, url]
  if (parts.some((source) => source.includes('{%'))) return null
  const [fixedTitle, fixedBody, fixedUrl] = parts.map((source) => source.replaceAll(/\{\{[\s\S]*?\}\}/g, ''))
  return pushFault({ title: fixedTitle, body: fixedBody, url: fixedUrl })
}

function checkFields(
  { required, oneOf, optional }: Fields,
  fields: Record<string, unknown>,
  channel: MessageChannel,
  path: string,
): Fault[] {
  const known: string[] = [...required, ...oneOf, ...optional]
  const faults: Fault[] = []
  for (const name of required)
    if (!(name in fields)) faults.push({ path: `${path}.${name}`, message: `${path}.${name} is required` })
  if (oneOf.length > 0 && !oneOf.some((name) => name in fields))
    faults.push({ path, message: `${path} must have ${oneOf.join(' or ')}` })
  if ('html' in fields && 'mjml' in fields)
    faults.push({ path: `${path}.mjml`, message: `${path} must have html or mjml, not both` })
  for (const [name, value] of Object.entries(fields)) {
    const at = `${path}.${name.slice(0, 50)}`
    if (!known.includes(name)) faults.push({ path: at, message: `${at} is not a field of the channel ${channel}` })
    else if (!isField(name, value)) faults.push({ path: at, message: `${at} must be ${formOf(name)}` })
  }
  return faults
}

const CLEAN_NAME = /^[\w.-]{1,512}$/

function isField(name: string, value: unknown): boolean {
  if (name === 'parameters')
    return Array.isArray(value) && value.length <= MAX_PARAMETERS && value.every((one) => isText(one))
  if (name === 'providerTemplate' || name === 'providerLanguage')
    return typeof value === 'string' && CLEAN_NAME.test(value)
  return isText(value)
}

/** Without characters that the databases cannot store. */
const isText = (value: unknown): boolean => typeof value === 'string' && value.isWellFormed() && !value.includes('\0')

function formOf(name: string): string {
  if (name === 'parameters') return `a list of at most ${MAX_PARAMETERS} texts`
  if (name === 'providerTemplate' || name === 'providerLanguage') return 'a name of the provider'
  return 'a text without NUL characters and lone surrogates'
}

const fail = (path: string, message: string): { faults: Fault[] } => ({ faults: [{ path, message }] })
