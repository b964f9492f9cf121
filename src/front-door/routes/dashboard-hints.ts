/**
 * Hints for what a page of the dashboard needs besides its document. With them, the browser requests it as soon as it
 * has the head. Otherwise it would request the files of the page only after the scripts of all pages have run, and then
 * texts and data one after the other.
 */
import { PAGES } from '../../dashboard/src/pages.ts'

/** The manifest of Vite, by source file. The names of chunks that several files share begin with `_`. */
export type Manifest = Record<string, { file: string; imports?: string[]; css?: string[] } | undefined>

/** Returns the elements for the head of the page at `path` (one of PAGE_PATHS). */
export function hintsFor(path: string, language: string, manifest: Manifest): string[] {
  const texts = (section: string) => manifest[`src/texts/${language}/${section}.ts`]?.file
  const shellTexts = texts('shell')
  if (shellTexts === undefined) throw new Error(`The dashboard is built without its texts in ${language}`)
  const page = PAGES.find((one) => one.path === path)
  // The page of what is missing has no row.
  const { scripts, styles } = page
    ? filesOf(`src/features/${page.code[0]}/page.tsx`, manifest)
    : { scripts: [], styles: [] }
  const pageTexts = (page?.texts ?? []).flatMap((section) => texts(section) ?? [])
  return [
    ...[...new Set([shellTexts, ...pageTexts, ...scripts])].map(
      (file) => `<link rel="modulepreload" crossorigin href="/dashboard/${file}">`,
    ),
    ...[...styles].map((file) => `<link rel="preload" as="style" crossorigin href="/dashboard/${file}">`),
    '<link rel="preload" as="fetch" crossorigin href="/dashboard/api/me">',
  ]
}

/**
 * Requests of a page that is opened without filters, relative to `/dashboard/api/b/:businessId/`. A test compares them
 * with the pages.
 */
const FIRST_DATA: Record<string, string[] | undefined> = {
  '/dashboard/b/$businessId': ['status', 'days'],
  '/dashboard/b/$businessId/contacts': ['contacts?limit=100', 'contacts/count', 'contact-filters', 'segments'],
  '/dashboard/b/$businessId/segments': ['segments'],
  '/dashboard/b/$businessId/campaigns': ['campaigns'],
}

/**
 * Returns the value of a `Link` header, so that data arrives with the scripts and not after them. Null when the page
 * has no such data.
 */
export function dataHints(path: string, businessId: string): string | null {
  const data = FIRST_DATA[path]
  if (data === undefined) return null
  return data.map((part) => `</dashboard/api/b/${businessId}/${part}>; rel=preload; as=fetch; crossorigin`).join(', ')
}

/** index.html contains these chunks itself. */
const EVERYWHERE = /^_(vendor|shell)-/

interface Files {
  scripts: Set<string>
  styles: Set<string>
}

function filesOf(key: string, manifest: Manifest, found: Files = { scripts: new Set(), styles: new Set() }): Files {
  const chunk = manifest[key]
  if (chunk === undefined || EVERYWHERE.test(key) || found.scripts.has(chunk.file)) return found
  found.scripts.add(chunk.file)
  for (const file of chunk.css ?? []) found.styles.add(file)
  for (const next of chunk.imports ?? []) filesOf(next, manifest, found)
  return found
}
