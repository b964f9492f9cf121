/** Checks parsed JSON against a schema. Returns the cleaned body, or messages for a person about what is wrong. */
import type { Static, TSchema } from '@sinclair/typebox'
import { TypeCompiler, ValueErrorType, type ValueError } from '@sinclair/typebox/compiler'
import { type Issue, RequestError } from '../../errors.ts'
import { isClean, trimText } from '../../rules/events/text.ts'
import { faultOf } from '../../rules/faults.ts'

/** Limits for the error answer: a hostile body can have a hundred thousand faults, under names of any length. */
const MAX_ISSUES = 20
const MAX_PATH = 100

export type CheckResult<T> = { body: T } | { issues: Issue[] }
export type BodyCheck<S extends TSchema> = (raw: unknown) => CheckResult<Static<S>>

/** Compiles a schema once. The check cleans first: see `compileClean`. */
export function compileCheck<S extends TSchema>(schema: S): BodyCheck<S> {
  const compiled = TypeCompiler.Compile(schema)
  const clean = compileClean(schema)
  return (raw) => {
    const body = clean(raw)
    return compiled.Check(body) ? { body } : { issues: explain(compiled.Errors(body)) }
  }
}

/** The body, or RequestError `invalid_request`. */
export function requireBody<T>(checked: CheckResult<T>): T {
  if ('body' in checked) return checked.body
  throw invalidRequest(checked.issues)
}

export function invalidRequest(issues: readonly Issue[]): RequestError {
  return new RequestError('invalid_request', { message: summarise(issues), issues })
}

/** The message for a list of issues: the first, and the number of others. */
export function summarise(issues: readonly Issue[]): string {
  const [first] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return first === undefined ? 'The request breaks a rule of this endpoint.' : `${first.message}${more}`
}

/** One issue per text field with characters that the databases cannot store (decisions, "Strings"). */
export function uncleanIssues(fields: Record<string, string | undefined>): Issue[] {
  return Object.keys(fields)
    .filter((path) => !isClean(fields[path] ?? ''))
    .map((path) => faultOf(path, 'clean_text'))
}

type Clean = (value: unknown) => unknown

/**
 * Keeps known fields only, since newer clients may send more; drops nulls, which count as absent; trims strings, so that
 * lengths are measured after trimming. Free-form values (properties, traits) are not changed.
 */
function compileClean(schema: TSchema): Clean {
  if (schema['type'] === 'string') return (value) => (typeof value === 'string' ? trimText(value) : value)
  if (schema['type'] === 'array') return compileCleanItems(schema)
  const fields = Object.entries(fieldsOf(schema))
  if (fields.length === 0) return (value) => value
  const known = fields.map(([name, field]) => ({ name, clean: compileClean(field) }))
  return (value) => {
    if (!isRecord(value)) return value
    const body: Record<string, unknown> = {}
    for (const { name, clean } of known) {
      const sent = value[name]
      if (sent !== undefined && sent !== null && Object.hasOwn(value, name)) body[name] = clean(sent)
    }
    return body
  }
}

/** Of one of several objects, the fields of all. */
function fieldsOf({ properties, anyOf = [] }: TSchema): Record<string, TSchema> {
  const others = (anyOf as TSchema[]).map(fieldsOf)
  return Object.assign({}, ...others, properties) as Record<string, TSchema>
}

/** Cleans one item past the limit at most: that is enough for the check to fail. */
function compileCleanItems(schema: TSchema): Clean {
  const { items, maxItems = Infinity } = schema as { items?: unknown; maxItems?: number }
  const clean = isRecord(items) && items['type'] !== undefined ? compileClean(items as TSchema) : undefined
  return (value) => {
    if (!Array.isArray(value)) return value
    const some: unknown[] = value.slice(0, maxItems + 1)
    return clean === undefined ? some : some.map(clean)
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** One issue per field: the outermost error of the field. Of several forms of an object, the errors are those of the one that was meant. */
function explain(errors: Iterable<ValueError>): Issue[] {
  const issues = new Map<string, Issue>()
  for (const error of meant(errors)) {
    const path = error.path.slice(1, MAX_PATH).replaceAll('/', '.')
    if (issues.has(path)) continue
    if (issues.size === MAX_ISSUES) break
    const missing = error.type === ValueErrorType.ObjectRequiredProperty
    const issue = missing ? faultOf(path, 'required') : faultOfForm(path, error.schema)
    issues.set(path, path === '' ? { ...issue, message: `The body ${issue.message}` } : issue)
  }
  return [...issues.values()]
}

function* meant(errors: Iterable<ValueError>): Iterable<ValueError> {
  for (const error of errors) {
    const form = formMeant(error)
    const others = form === undefined ? undefined : error.errors[form]
    if (others === undefined) yield error
    else yield* meant(others)
  }
}

/** The only object among the forms, or the only one that has a field of the value. */
function formMeant({ value, schema }: ValueError): number | undefined {
  const forms = (schema.anyOf ?? []) as TSchema[]
  if (!isRecord(value)) return undefined
  const [only, ...more] = forms.flatMap((one, place) => (one['type'] === 'object' ? [place] : []))
  if (more.length === 0 && only !== undefined) return only
  const [form, ...others] = forms.flatMap((one, place) =>
    Object.keys(fieldsOf(one)).some((name) => Object.hasOwn(value, name)) ? [place] : [],
  )
  return others.length === 0 ? form : undefined
}

/**
 * Of several choices, the words are those of all of them: the code is then `form`. Null beside one other choice is named to programs only:
 * the code is that of the other.
 */
function faultOfForm(path: string, schema: TSchema): Issue {
  const choices = (schema.anyOf ?? []) as TSchema[]
  if (choices.length > 0 && choices.every((one) => one.const !== undefined))
    return faultOf(path, 'one_of', { choices: choices.map((one) => String(one.const)).join(', ') })
  const [form, ...others] = choices.filter((one) => one['type'] !== 'null')
  if (form !== undefined && others.length === 0) {
    const fault = faultOfForm(path, form)
    return choices.length === 1 ? fault : { ...fault, message: `${fault.message} or null` }
  }
  if (choices.length > 0) return faultOf(path, 'form', { form: choices.map(describe).join(' or ') })
  return faultOfOne(path, schema)
}

/** What a schema requires, in words. Of an object, as one of several, the fields that it needs. */
function describe(schema: TSchema): string {
  const required = (schema['required'] ?? []) as string[]
  if (schema['type'] === 'object' && required.length > 0) return `an object with ${required.join(' and ')}`
  return faultOfForm('', schema).message.replace(/^must be /, '')
}

/** A pattern is described by its `description`. */
function faultOfOne(path: string, schema: TSchema): Issue {
  if (schema.const !== undefined) return faultOf(path, 'exactly', { value: String(schema.const) })
  const { minLength = 0, maxLength, minItems = 0, maxItems, maximum } = schema as Record<string, number>
  switch (schema['type']) {
    case 'string':
      if (schema['format'] === 'uuid') return faultOf(path, 'id')
      if (typeof schema['pattern'] === 'string') return faultOf(path, 'form', { form: String(schema.description) })
      if (maxLength === undefined) return faultOf(path, 'text')
      return minLength > 0
        ? faultOf(path, 'text_of', { min: minLength, max: maxLength })
        : faultOf(path, 'text_up_to', { max: maxLength })
    case 'array':
      return minItems > 0
        ? faultOf(path, 'items', { min: minItems, max: maxItems ?? Infinity })
        : faultOf(path, 'items_up_to', { max: maxItems ?? Infinity })
    case 'integer':
      return maximum === undefined
        ? faultOf(path, 'whole_number_from_0')
        : faultOf(path, 'whole_number', { min: 0, max: maximum })
    case 'number':
      return faultOf(path, schema['minimum'] === 0 ? 'number_from_0' : 'number')
    case 'boolean':
      return faultOf(path, 'boolean')
    case 'null':
      return faultOf(path, 'null')
    default:
      return faultOf(path, 'object')
  }
}
