/** The OpenAPI document as one page for people, complete in itself: no script, nothing from elsewhere. */

interface Operation {
  summary: string
  description?: string
  security: object[]
  parameters: { name: string; in: string; required: boolean; description?: string }[]
  requestBody?: { content: { 'application/json': { schema: object; example: object } } }
  responses: Record<string, { description: string; content: { 'application/json': { example?: object } } }>
}

interface Document {
  info: { title: string; description: string }
  paths: Record<string, Record<string, Operation>>
}

export function renderApi(described: object): string {
  const { info, paths } = described as Document
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => renderOperation(method, path, operation)),
  )
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(info.title)} API</title>
<style>${STYLE}</style></head>
<body><h1>${escape(info.title)} API</h1>
<p>${prose(info.description)}</p>
<p>For programs: <a href="/openapi.json">/openapi.json</a></p>
${operations.join('\n')}
</body></html>`
}

function renderOperation(method: string, path: string, operation: Operation): string {
  const { summary, description, parameters, requestBody, responses, security } = operation
  const body = requestBody?.content['application/json']
  return `<details><summary><b>${method.toUpperCase()}</b> <code>${escape(path)}</code> ${escape(summary)}</summary>
${description === undefined ? '' : `<p>${prose(description)}</p>`}
<p>${sayKey(security)}</p>
${renderParameters(parameters)}
${body === undefined ? '' : `<h3>Body</h3>${pretty(body.example)}<details><summary>Schema</summary>${pretty(body.schema)}</details>`}
<h3>Answers</h3>
${Object.entries(responses).map(renderResponse).join('\n')}
</details>`
}

function sayKey(security: object[]): string {
  if (security.length === 1) return 'Needs a secret key.'
  return security.some((scheme) => 'key' in scheme) ? 'A key is optional.' : 'A publishable key is optional.'
}

function renderParameters(parameters: Operation['parameters']): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(
    ({ name, in: place, description = '' }) =>
      `<tr><td><code>${escape(name)}</code></td><td>${place}</td><td>${prose(description)}</td></tr>`,
  )
  return `<h3>Parameters</h3><table>${rows.join('')}</table>`
}

function renderResponse([status, { description, content }]: [string, Operation['responses'][string]]): string {
  const { example } = content['application/json']
  return `<p><b>${status}</b> ${prose(description)}</p>${example === undefined ? '' : pretty(example)}`
}

const pretty = (value: object) => `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`

/** Text with `code` in it. */
const prose = (text: string) => escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
details { border: 1px solid #8884; border-radius: 6px; padding: .5rem 1rem; margin: .5rem 0 }
summary { cursor: pointer }
pre { background: #8881; padding: .75rem; overflow: auto; border-radius: 4px }
td { padding-right: 1rem; vertical-align: top }
`
