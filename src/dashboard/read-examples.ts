/**
 * Returns the examples in docs/analytics.md as JSON. A second-level heading is a group; a third-level heading is the
 * title of an example.
 */
export function readExamples(markdown: string): string {
  const groups = markdown.split(/^## /m).slice(1)
  const examples = groups.flatMap((text) => {
    const group = firstLine(text)
    return text
      .split(/^### /m)
      .slice(1)
      .flatMap((part) => {
        const statement = /```sql\n([\s\S]*?)\n```/.exec(part)?.[1]
        return statement === undefined ? [] : [{ group, title: firstLine(part), statement }]
      })
  })
  return `${JSON.stringify(examples, null, 2)}\n`
}

const firstLine = (text: string): string => text.slice(0, text.indexOf('\n')).replaceAll('`', '')
