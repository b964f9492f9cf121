import { chooseLanguage } from '../../rules/messages/choose-language.ts'
import { pushFault } from '../../rules/messages/push-size.ts'
import { keyOf, parameterName, partsOf } from './parts-of.ts'
import type { Renderer } from './renderer.ts'
import type { MessageChannel, RenderedMessage, Rendering, TemplateVersion, Variant } from './template.ts'
import { type MessageValues, fillIn } from './values.ts'

interface Wanted {
  values: MessageValues
  /** Default: the language of the contact. */
  language: string | null
  /** Epoch milliseconds: `now` in the template. */
  now: number
}

/** Returns the message that a version makes of these values: the same for the same input. */
export async function renderMessage(
  renderer: Renderer,
  template: TemplateVersion,
  { values, language: wanted, now }: Wanted,
): Promise<Rendering> {
  const { variants, compiled, defaultLanguage } = template
  const language = chooseLanguage(wanted, Object.keys(variants), defaultLanguage)
  const variant = variants[language]
  if (variant === undefined) return { kind: 'failed', reason: `there is no variant in ${language}` }
  const parts = partsOf(variant, compiled[language])
  const needsText = template.channel === 'email' && variant.text === undefined
  const result = await renderer.render({
    key: keyOf(template, language),
    parts,
    values: fillIn(values),
    registers: { now, language, currency: values.business.currency ?? '' },
    textFrom: needsText ? 'html' : null,
  })
  if (result.kind !== 'rendered') return { kind: 'failed', reason: reasonOf(result) }
  const message = toMessage(language, variant, result.parts, result.text)
  const fault = faultOf(template.channel, message)
  return fault === null ? { kind: 'rendered', message } : { kind: 'failed', reason: fault }
}

/** Returns the part that the channel does not accept. */
function faultOf(channel: MessageChannel, message: RenderedMessage): string | null {
  if (channel === 'webhook' && !isJson(message.body ?? '')) return 'body: it is not JSON'
  return channel === 'push' ? (pushFault(message)?.message ?? null) : null
}

const reasonOf = (result: { kind: string; reason?: string }): string => result.reason ?? 'it cannot be rendered'

function toMessage(
  language: string,
  variant: Variant,
  parts: Record<string, string>,
  madeText: string | null,
): RenderedMessage {
  const { subject, html, title, body, url } = parts
  const text = parts['text'] ?? madeText ?? undefined
  const { providerTemplate, providerLanguage = language.replace('-', '_'), parameters } = variant
  return {
    language,
    ...(subject !== undefined && { subject: toLine(subject) }),
    ...(html !== undefined && { html }),
    ...(text !== undefined && { text }),
    ...(title !== undefined && { title: toLine(title) }),
    ...(body !== undefined && { body }),
    ...(url !== undefined && { url: url.trim() }),
    ...(providerTemplate !== undefined && { providerTemplate, providerLanguage }),
    ...(parameters !== undefined && { parameters: parameters.map((_, index) => parts[parameterName(index)] ?? '') }),
  }
}

/** A line break in a value must not end a header. */
const toLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
