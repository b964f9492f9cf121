import type { MessageChannel } from '../../rules/channels.ts'
import { language } from '../../../texts/language.ts'
import type { Variant } from '../fields.ts'
import type { Template } from '../queries.ts'

export interface TemplateDraft {
  name: string
  channel: MessageChannel
  defaultLanguage: string
  /** Texts by language. There is always at least one. */
  variants: Record<string, Variant>
}

export const draftOf = (template: Template | undefined): TemplateDraft =>
  template === undefined
    ? { name: '', channel: 'email', defaultLanguage: language, variants: { [language]: {} } }
    : {
        name: template.name,
        channel: template.channel,
        defaultLanguage: template.defaultLanguage,
        variants: template.variants,
      }

export const keyOf = (businessId: string, templateId: string | undefined): string =>
  `sluice.draft.template.${businessId}.${templateId ?? 'new'}`

/** A new language starts as a copy of another one, to be translated. */
export const withLanguage = (draft: TemplateDraft, added: string, from: string): TemplateDraft =>
  added in draft.variants ? draft : { ...draft, variants: { ...draft.variants, [added]: { ...draft.variants[from] } } }

export function withoutLanguage(draft: TemplateDraft, removed: string): TemplateDraft {
  const { [removed]: _, ...variants } = draft.variants
  const [first] = Object.keys(variants)
  if (first === undefined) return draft
  return { ...draft, variants, defaultLanguage: draft.defaultLanguage === removed ? first : draft.defaultLanguage }
}
