/** Compiles MJML to HTML, and keeps the Liquid in it. */

export type CompiledMjml = { html: string } | { fault: string }

const LIQUID = /\{\{.*?\}\}|\{%.*?%\}/gs

/** The library is loaded when the first MJML template is saved, because it is large. */
export async function compileMjml(source: string): Promise<CompiledMjml> {
  const { default: compile } = await import('mjml')
  try {
    const { html, errors } = await compile(source, { validationLevel: 'soft', ignoreIncludes: true })
    const [first] = errors
    if (first !== undefined) return { fault: `line ${first.line}: ${first.message}` }
    const lost = findLost(source, html)
    return lost === undefined
      ? { html }
      : { fault: `${lost.slice(0, 100)} is lost in the HTML: between elements, put it in mj-raw` }
  } catch (error) {
    return { fault: error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it cannot be compiled' }
  }
}

/** MJML drops text between its elements without an error. */
function findLost(source: string, html: string): string | undefined {
  const kept = countEach(html.match(LIQUID))
  return [...countEach(source.match(LIQUID))].find(([one, times]) => (kept.get(one) ?? 0) < times)?.[0]
}

function countEach(found: readonly string[] | null): Map<string, number> {
  const times = new Map<string, number>()
  for (const one of found ?? []) times.set(one, (times.get(one) ?? 0) + 1)
  return times
}
