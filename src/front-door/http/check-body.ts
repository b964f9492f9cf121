/** Checks parsed JSON against a schema. Returns the cleaned body, or messages for people that say what is wrong. */
import { Kind, type Static, type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler, ValueErrorType, type ValueError } from '@sinclair/typebox/compiler'
import { type Issue, RequestError } from '../../errors.ts'
import { isClean, trimText } from '../../rules/events/text.ts'
import { faultOf } from '../../rules/faults.ts'
import { isRecord } from '../../rules/is-record.ts'

/**
 * Limits of the error answer: a hostile body can have a hundred thousand faults, in fields with names of any length.
 */
const MAX_ISSUES = 20
const MAX_PATH = 100

export type CheckResult<T> = { body: T } | { issues: Issue[] }
export type BodyCheck<S extends TSchema> = (raw: unknown) => CheckResult<Static<S>>

/** Option of a string schema: white space at its ends is part of the text, as in parts of a file. */
export const UNTRIMMED = Symbol('untrimmed')

/** Compiles a schema once. Each check first cleans the body: see `compileClean`. */
export function compileCheck<S extends TSchema>(schema: S): BodyCheck<S> {
  const compiled = TypeCompiler.Compile(withoutFreeForm(schema))
  const clean = compileClean(schema)
  return (raw) => {
    const body = clean(raw)
    return compiled.Check(body) ? { body } : { issues: explain(compiled.Errors(body)) }
  }
}

const [ANY_KEY] = Object.keys(Type.Record(Type.String(), Type.Unknown()).patternProperties)
const LIMITS = ['minProperties', 'maxProperties', 'additionalProperties']

/** Replaces records of anything by plain objects, so that a check does not look at each of their fields. */
function withoutFreeForm(schema: TSchema): TSchema {
  const { properties, patternProperties = {} } = schema as { [group: string]: Record<string, TSchema> | undefined }
  const [[key, values] = [], ...others] = Object.entries(patternProperties)
  const isAnyRecord = key === ANY_KEY && values?.[Kind] === 'Unknown' && others.length === 0
  if (isAnyRecord && !LIMITS.some((limit) => limit in schema)) return Type.Object({})
  if (properties === undefined) return schema
  const simple = Object.entries(properties).map(([name, field]) => [name, withoutFreeForm(field)])
  return { ...schema, properties: Object.fromEntries(simple) as typeof properties }
}

/** Returns the body. Throws RequestError `invalid_request`. */
export function requireBody<T>(checked: CheckResult<T>): T {
  if ('body' in checked) return checked.body
  throw invalidRequest(checked.issues)
}

export function invalidRequest(issues: readonly Issue[]): RequestError {
  return new RequestError('invalid_request', { message: summarise(issues), issues })
}

/** Returns the message for a list of issues: that of the first, and the number of others. */
export function summarise(issues: readonly Issue[]): string {
  const [first] = issues
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  return first === undefined ? 'The request breaks a rule of this endpoint.' : `${first.message}${more}`
}

/**
 * Returns an issue for each text field with characters that the databases cannot store (decisions, "Strings"). `names`:
 * the fields to look at, by default all.
 */
export function uncleanIssues(
  fields: Readonly<Record<string, unknown>>,
  names: readonly string[] = Object.keys(fields),
): Issue[] {
  const issues: Issue[] = []
  for (const name of names) {
    const text = fields[name]
    if (typeof text === 'string' && !isClean(text)) issues.push(faultOf(name, 'clean_text'))
  }
  return issues
}

type Clean = (value: unknown) => unknown

/**
 * Returns a function that cleans a body: it keeps only known fields, since newer clients may send more; drops nulls,
 * which count as absent; and trims strings but those of UNTRIMMED, so that lengths are measured after trimming. It does not change free-form
 * values (properties, traits).
 */
function compileClean(schema: TSchema): Clean {
  if (UNTRIMMED in schema) return (value) => value
  if (schema['type'] === 'string') return (value) => (typeof value === 'string' ? trimText(value) : value)
  if (schema['type'] === 'array') return compileCleanItems(schema)
  const fields = Object.entries(fieldsOf(schema))
  if (fields.length === 0) return (value) => value
  // An object inherits what it has not been sent only of these names.
  const known = fields.map(([name, field]) => ({ name, isInherited: name in {}, clean: compileClean(field) }))
  return (value) => {
    if (!isRecord(value)) return value
    const body: Record<string, unknown> = {}
    for (const { name, isInherited, clean } of known) {
      const sent = value[name]
      if (sent === undefined || sent === null || (isInherited && !Object.hasOwn(value, name))) continue
      body[name] = clean(sent)
    }
    return body
  }
}

/** Returns the fields of an object. For a union of objects, returns the fields of all of them. */
function fieldsOf({ properties, anyOf = [] }: TSchema): Record<string, TSchema> {
  const others = (anyOf as TSchema[]).map(fieldsOf)
  return Object.assign({}, ...others, properties) as Record<string, TSchema>
}

/** Keeps at most one item more than the limit, which is enough for the check to fail. */
function compileCleanItems(schema: TSchema): Clean {
  const { items, maxItems = Infinity } = schema as { items?: unknown; maxItems?: number }
  const clean = isRecord(items) && items['type'] !== undefined ? compileClean(items as TSchema) : undefined
  return (value) => {
    if (!Array.isArray(value)) return value
    const limited: unknown[] = value.slice(0, maxItems + 1)
    return clean === undefined ? limited : limited.map(clean)
  }
}

/**
 * Returns one issue per field: its outermost error. For a union of objects, the errors are those of the form that the
 * caller probably meant.
 */
function explain(errors: Iterable<ValueError>): Issue[] {
  const issues = new Map<string, Issue>()
  for (const error of likelyErrors(errors)) {
    const path = error.path.slice(1, MAX_PATH).replaceAll('/', '.')
    if (issues.has(path)) continue
    if (issues.size === MAX_ISSUES) break
    const missing = error.type === ValueErrorType.ObjectRequiredProperty
    const issue = missing ? faultOf(path, 'required') : faultOfForm(path, error.schema)
    issues.set(path, path === '' ? { ...issue, message: `The body ${issue.message}` } : issue)
  }
  return [...issues.values()]
}

function* likelyErrors(errors: Iterable<ValueError>): Iterable<ValueError> {
  for (const error of errors) {
    const form = likelyForm(error)
    const others = form === undefined ? undefined : error.errors[form]
    if (others === undefined) yield error
    else yield* likelyErrors(others)
  }
}

/**
 * Returns the index of the form that a value probably has: the only object among the forms, or the only one that shares
 * a field with the value.
 */
function likelyForm({ value, schema }: ValueError): number | undefined {
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
 * Returns the fault of a value with the wrong form. For several choices, the code is `form`, and the words describe all
 * of them. For one choice or null, the code is that of the choice; only the message, for programs, mentions null.
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

/** Returns in words what a schema requires. An object among several choices is described by its required fields. */
function describe(schema: TSchema): string {
  const required = (schema['required'] ?? []) as string[]
  if (schema['type'] === 'object' && required.length > 0) return `an object with ${required.join(' and ')}`
  return faultOfForm('', schema).message.replace(/^must be /, '')
}

/** Returns the fault for a schema without choices. A pattern is described by its `description`. */
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
