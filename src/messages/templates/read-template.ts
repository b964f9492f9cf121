import { type Fault, faultOf } from '../../rules/faults.ts'
import { readLanguage } from '../../rules/messages/choose-language.ts'
import { checkLinks } from './check-links.ts'
import { checkVariants } from './check-variants.ts'
import { readVariants } from './read-variants.ts'
import type { Renderer } from './renderer.ts'
import type { DataReads, MessageChannel, TemplateVersion } from './template.ts'

/** As it was sent. */
export interface SentTemplate {
  channel: MessageChannel
  variants: Record<string, unknown>
  defaultLanguage: string
}

export type Contents = Pick<TemplateVersion, 'variants' | 'compiled' | 'defaultLanguage'> & DataReads

/** Returns all faults for which a template is refused. Publishing would refuse it for them, too. */
export async function readTemplate(
  renderer: Renderer,
  { channel, variants: sent, defaultLanguage }: SentTemplate,
): Promise<{ contents: Contents } | { faults: Fault[] }> {
  const read = readVariants(channel, sent)
  if ('faults' in read) return read
  const { variants } = read
  const language = readLanguage(defaultLanguage)
  if (language === null || variants[language] === undefined)
    return { faults: [faultOf('defaultLanguage', 'default_language')] }
  const checked = await checkVariants(renderer, variants)
  if ('faults' in checked) return checked
  const faults = checkLinks(variants, checked.compiled)
  return faults.length > 0 ? { faults } : { contents: { variants, defaultLanguage: language, ...checked } }
}
