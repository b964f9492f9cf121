import type { Fault } from '../../rules/faults.ts'
import type { JobResult, Part } from './jobs.ts'
import { partsOf } from './parts-of.ts'
import type { Renderer } from './renderer.ts'
import type { DataReads, Variant, Variants } from './template.ts'

/** Compiles MJML, and checks that every part parses and reads only existing values. */
export async function checkVariants(
  renderer: Renderer,
  variants: Variants,
): Promise<CheckedVariants | { faults: Fault[] }> {
  const compiled: Record<string, string> = {}
  const dataNames: Record<string, string[]> = {}
  let readsData = false
  const faults: Fault[] = []
  for (const [language, variant] of Object.entries(variants)) {
    const checked = await checkVariant(renderer, variant, language)
    if (checked.html !== undefined) compiled[language] = checked.html
    dataNames[language] = checked.dataNames ?? []
    readsData ||= checked.dataNames !== null
    faults.push(...checked.faults)
    // The others would take as long, one after the other.
    if (checked.wasEnded) break
  }
  return faults.length > 0 ? { faults } : { compiled, readsData, dataNames }
}

interface CheckedVariants extends DataReads {
  compiled: Record<string, string>
}

interface Checked {
  html?: string
  /** Null: it reads no data. */
  dataNames: string[] | null
  faults: Fault[]
  wasEnded: boolean
}

async function checkVariant(renderer: Renderer, variant: Variant, language: string): Promise<Checked> {
  const { mjml } = variant
  const path = `variants.${language}`
  if (mjml === undefined) return checkParts(renderer, partsOf(variant, undefined), path)
  // Checked before compilation, so that the lines in the messages are those of the MJML.
  const source = await checkParts(renderer, [{ name: 'mjml', source: mjml, isHtml: true }], path)
  if (source.faults.length > 0) return source
  const result = await renderer.compileMjml(mjml, language)
  if (result.kind !== 'compiled') return refuse(`${path}.mjml`, result)
  const { html } = result
  const parts = partsOf(variant, html).map((part) => (part.isHtml ? { ...part, name: 'mjml' } : part))
  return { html, ...(await checkParts(renderer, parts, path)) }
}

async function checkParts(renderer: Renderer, parts: Part[], path: string): Promise<Checked> {
  const result = await renderer.check(parts)
  if (result.kind !== 'checked') return refuse(path, result)
  const { dataNames } = result
  return { faults: result.faults.map(({ part, fault }) => place(fault, `${path}.${part}`)), wasEnded: false, dataNames }
}

function refuse(path: string, result: JobResult): Checked {
  const message = 'reason' in result ? result.reason : 'it cannot be checked'
  const fault = result.kind === 'refused' ? result.fault : { path: '', message }
  return { faults: [place(fault, path)], wasEnded: result.kind === 'ended', dataNames: null }
}

const place = (fault: Fault, path: string): Fault => ({ ...fault, path, message: `${path}: ${fault.message}` })
