import { type Fault, faultOf } from '../../rules/faults.ts'
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

/**
 * Returns the variants under the normalised forms of their languages. Checks everything except the templates
 * themselves.
 */
export function readVariants(
  channel: MessageChannel,
  sent: Record<string, unknown>,
): { variants: Variants } | { faults: Fault[] } {
  const entries = Object.entries(sent)
  if (entries.length === 0 || entries.length > MAX_VARIANTS)
    return fail(faultOf('variants', 'languages', { max: MAX_VARIANTS }))
  const variants: Variants = {}
  const faults: Fault[] = []
  for (const [key, variant] of entries) {
    const path = `variants.${key.slice(0, 50)}`
    const language = readLanguage(key)
    const read = readVariant(channel, variant, path)
    if (language === null) faults.push(faultOf(path, 'language_name'))
    else if (Object.hasOwn(variants, language)) faults.push(faultOf(path, 'there_twice'))
    else if ('faults' in read) faults.push(...read.faults)
    else variants[language] = read.variant
  }
  return faults.length > 0 ? { faults } : { variants }
}

function readVariant(channel: MessageChannel, sent: unknown, path: string): { variant: Variant } | { faults: Fault[] } {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) return fail(faultOf(path, 'object'))
  if (Buffer.byteLength(JSON.stringify(sent)) > MAX_VARIANT_BYTES)
    return fail(faultOf(path, 'bytes_up_to', { max: MAX_VARIANT_BYTES }))
  const fields = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== null && value !== ''))
  const faults = checkFields(FIELDS[channel], fields, channel, path)
  const tooLarge = faults.length === 0 && channel === 'push' ? pushFaultOf(fields) : null
  if (tooLarge !== null) return fail({ ...tooLarge, path, message: `${path}: ${tooLarge.message}` })
  return faults.length > 0 ? { faults } : { variant: fields }
}

/**
 * Checks what is the same in each message. The length of the rest is known only after rendering, because a tag may omit
 * anything.
 */
function pushFaultOf({ title = '', body = '', url = '' }: Variant): Fault | null {
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
  for (const name of required) if (!(name in fields)) faults.push(faultOf(`${path}.${name}`, 'required'))
  if (oneOf.length > 0 && !oneOf.some((name) => name in fields))
    faults.push(faultOf(path, 'one_body', { parts: oneOf.join(' or ') }))
  if ('html' in fields && 'mjml' in fields) faults.push({ ...faultOf(path, 'html_or_mjml'), path: `${path}.mjml` })
  for (const [name, value] of Object.entries(fields)) {
    const at = `${path}.${name.slice(0, 50)}`
    if (!known.includes(name)) faults.push(faultOf(at, 'not_of_channel', { channel }))
    else if (!isField(name, value)) faults.push(faultOfForm(at, name))
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

function faultOfForm(path: string, name: string): Fault {
  if (name === 'parameters') return faultOf(path, 'texts_up_to', { max: MAX_PARAMETERS })
  if (name === 'providerTemplate' || name === 'providerLanguage') return faultOf(path, 'name_of_provider')
  return faultOf(path, 'clean_string')
}

const fail = (fault: Fault): { faults: Fault[] } => ({ faults: [fault] })
