/** Compiles MJML to HTML, and keeps the Liquid and the words in it. */
import type { Fault } from '../../rules/faults.ts'
import { textDirection } from '../../rules/messages/text-direction.ts'
import { findIgnored, findLost } from './find-lost.ts'

export type CompiledMjml = { html: string } | { fault: Fault }

/** The library is loaded when the first MJML template is saved, because it is large. */
export async function compileMjml(source: string, language: string): Promise<CompiledMjml> {
  const ignored = findIgnored(source)
  if (ignored !== undefined) return { fault: ignored }
  const { default: compile } = await import('mjml')
  try {
    const { html, errors } = await compile(withLanguage(source, language), {
      validationLevel: 'soft',
      ignoreIncludes: true,
    })
    const [first] = errors
    if (first !== undefined) return refuse(`line ${first.line}: ${first.message}`)
    const lost = findLost(source, html)
    return lost === undefined ? { html } : { fault: lost }
  } catch (error) {
    return refuse(error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it cannot be compiled')
  }
}

const refuse = (message: string): CompiledMjml => ({ fault: { path: '', message } })

/** Screen readers read a mail in its language. What the template itself says of it stays. */
function withLanguage(source: string, language: string): string {
  const start = source.search(/<mjml[\s>]/)
  if (start === -1) return source
  const attributes = source.slice(start, source.indexOf('>', start))
  if (/\slang\s*=/.test(attributes)) return source
  const direction = /\sdir\s*=/.test(attributes) ? '' : ` dir="${textDirection(language)}"`
  const name = start + '<mjml'.length
  return `${source.slice(0, name)} lang="${language}"${direction}${source.slice(name)}`
}
