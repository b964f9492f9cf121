/** Fields of a template's variant, by channel. */
import type { MessageChannel } from '../rules/channels.ts'

export interface Variant {
  subject?: string
  html?: string
  mjml?: string
  text?: string
  title?: string
  body?: string
  url?: string
  providerTemplate?: string
  providerLanguage?: string
  parameters?: string[]
}
export type FieldName = keyof Variant

export interface FieldForm {
  name: FieldName
  /** `line`: one line; `prose`: several lines; `code`: a monospaced font; `list`: one text per line. */
  kind: 'line' | 'prose' | 'code' | 'list'
  /** True when the field is a template. */
  isTemplate: boolean
}

const field = (name: FieldName, kind: FieldForm['kind'] = 'line', isTemplate = true): FieldForm => ({
  name,
  kind,
  isTemplate,
})

/** `html` and `mjml` are two formats of the same content: a variant has one of them. */
export const FIELDS: Record<MessageChannel, readonly FieldForm[]> = {
  email: [field('subject'), field('html', 'code'), field('mjml', 'code'), field('text', 'prose')],
  sms: [field('text', 'prose')],
  whatsapp: [
    field('providerTemplate', 'line', false),
    field('providerLanguage', 'line', false),
    field('parameters', 'list'),
    field('text', 'prose'),
  ],
  push: [field('title'), field('body', 'prose'), field('url')],
  webhook: [field('body', 'code')],
}

/** Sets the text of a field. An empty text removes the field. */
export function withField(variant: Variant, name: FieldName, text: string): Variant {
  const value = name === 'parameters' ? linesOf(text) : text
  const { [name]: _, ...rest } = variant
  return value.length === 0 ? rest : { ...variant, [name]: value }
}

export function textIn(variant: Variant, name: FieldName): string {
  const value = variant[name]
  return Array.isArray(value) ? value.join('\n') : (value ?? '')
}

/** The last line may be empty, because the person is still typing it. */
const linesOf = (text: string): string[] => (text === '' ? [] : text.split('\n'))
