/**
 * All texts of the pages. A page loads its own sections, in the language of the page; the front door puts the language on
 * <html>, so that it is one for the life of a page.
 */
import { language } from './language.ts'
import type { Section, Sections } from './sections.ts'

export type { Section } from './sections.ts'
export { LANGUAGES, type Language, language } from './language.ts'

const files = import.meta.glob<{ texts: unknown }>('./{en,de,he}/*.ts')
const loaded = new Map<Section, unknown>()

/** For the loader of a route: its page renders with its texts. */
export async function loadTexts(...sections: Section[]): Promise<void> {
  await Promise.all(
    sections.map(async (section) => {
      if (loaded.has(section)) return
      const file = await files[`./${language}/${section}.ts`]?.()
      loaded.set(section, file?.texts)
    }),
  )
}

export function textsOf<S extends Section>(section: S): Sections[S] {
  const texts = loaded.get(section)
  if (texts === undefined) throw new Error(`The loader of the route must load the texts of ${section}.`)
  return texts as Sections[S]
}
