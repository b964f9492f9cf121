/** What a variant of a template has, by its channel. */
import type { ListedTemplate } from '../campaigns/queries.ts'

export type Channel = ListedTemplate['channel']

export const CHANNELS = ['email', 'sms', 'whatsapp', 'push', 'webhook'] as const satisfies readonly Channel[]

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
  /** `line`: one line; `prose`: several; `code`: in a font of equal widths; `list`: one text a line. */
  kind: 'line' | 'prose' | 'code' | 'list'
  /** A template can be read in it. */
  isTemplate: boolean
}

const field = (name: FieldName, kind: FieldForm['kind'] = 'line', isTemplate = true): FieldForm => ({
  name,
  kind,
  isTemplate,
})

/** `html` and `mjml` are two forms of one thing: a variant has one of them. */
export const FIELDS: Record<Channel, readonly FieldForm[]> = {
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

/** Undefined: what was sent for it is left out. */
export function withField(variant: Variant, name: FieldName, text: string): Variant {
  const value = name === 'parameters' ? linesOf(text) : text
  const { [name]: _, ...rest } = variant
  return value.length === 0 ? rest : { ...variant, [name]: value }
}

export function textIn(variant: Variant, name: FieldName): string {
  const value = variant[name]
  return Array.isArray(value) ? value.join('\n') : (value ?? '')
}

/** An empty last line is being typed. */
const linesOf = (text: string): string[] => (text === '' ? [] : text.split('\n'))
