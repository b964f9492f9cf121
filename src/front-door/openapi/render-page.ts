/** The OpenAPI document as one HTML page for people, self-contained and without scripts. */
import { ERRORS } from '../../errors.ts'
import { curlExample } from './curl-example.ts'
import { type ParameterSchema, schemaText } from './schema-text.ts'

interface Operation {
  summary: string
  description?: string
  security: object[]
  parameters: { name: string; in: string; description?: string; schema: ParameterSchema; example?: string }[]
  requestBody?: { content: { 'application/json': { schema: object; example: object } } }
  responses: Record<string, { description: string; content: { 'application/json': { example?: object } } }>
}

interface Document {
  info: { title: string; description: string }
  paths: Record<string, Record<string, Operation>>
}

export function renderPage(described: object): string {
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
<p>For programs: <a href="/openapi.json">/openapi.json</a>. Each <a href="#errors">error</a> is explained below. To run the commands, set these variables first, and use your own ids:</p>
<pre>${escape(BEFORE_CURL)}</pre>
${operations.join('\n')}
${ERROR_TABLE}
</body></html>`
}

function renderOperation(method: string, path: string, operation: Operation): string {
  const { summary, description, parameters, requestBody, responses, security } = operation
  const body = requestBody?.content['application/json']
  return `<details><summary><b>${method.toUpperCase()}</b> <code>${escape(path)}</code> ${escape(summary)}</summary>
${description === undefined ? '' : `<p>${prose(description)}</p>`}
<p>${keyText(security)}</p>
<pre>${escape(curlExample(method, path, operation))}</pre>
${renderParameters(parameters)}
${body === undefined ? '' : `<h3>Body</h3>${pretty(body.example)}<details><summary>Schema</summary>${pretty(body.schema)}</details>`}
<h3>Answers</h3>
${Object.entries(responses).map(renderResponse).join('\n')}
</details>`
}

function keyText(security: object[]): string {
  if (security.length === 1) return 'Needs a secret key.'
  return security.some((scheme) => 'key' in scheme) ? 'A key is optional.' : 'A publishable key is optional.'
}

function renderParameters(parameters: Operation['parameters']): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(({ name, in: place, schema, description = '' }) => [
    `<code>${escape(name)}</code>`,
    escape(place),
    prose(schemaText(schema)),
    prose(description),
  ])
  return `<h3>Parameters</h3>${table(['Name', 'In', 'Value', ''], rows)}`
}

function renderResponse([status, { description, content }]: [string, Operation['responses'][string]]): string {
  const { example } = content['application/json']
  return `<p><b>${status}</b> ${prose(description)}</p>${example === undefined ? '' : pretty(example)}`
}

/** The cells are HTML. */
function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const body = rows.map((cells) => `<tr><td>${cells.join('</td><td>')}</td></tr>`)
  return `<table><tr><th>${heads.join('</th><th>')}</th></tr>${body.join('')}</table>`
}

const pretty = (value: object) => `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`

/** Text with `code` in it. */
const prose = (text: string) => escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

const BEFORE_CURL = `BASE=http://127.0.0.1:8080
KEY=sk_live_…`

const ERROR_TABLE = `<h2 id="errors">Errors</h2>
<p>${prose('`error.code` does not change between versions. `message` is for people, and may say more than here. `error.issues` names the fields.')}</p>
${table(
  ['Status', 'Code', 'Message'],
  Object.entries(ERRORS).map(([code, { status, message }]) => [`${status}`, `<code>${code}</code>`, prose(message)]),
)}`

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
details { border: 1px solid #8884; border-radius: 6px; padding: .5rem 1rem; margin: .5rem 0 }
summary { cursor: pointer }
pre { background: #8881; padding: .75rem; overflow: auto; border-radius: 4px }
td, th { padding-right: 1rem; vertical-align: top; text-align: left }
`
