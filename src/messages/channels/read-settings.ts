/**
 * Checks the settings of a channel as a caller writes them: the settings of the provider and its secrets, side by side.
 */
import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Fault, faultOf, moveFault } from '../../rules/faults.ts'
import { isClean } from '../../rules/events/text.ts'
import type { MessageChannel } from '../templates/template.ts'
import { LimitSettings } from './limits.ts'
import type { Provider } from './provider.ts'
import { providersOf } from './providers.ts'

/** `provider` and its settings. Null and an empty text count as absent. */
export type SentSettings = Record<string, unknown>

export interface ReadSettings {
  provider: Provider
  settings: Record<string, unknown>
  /** Those that were given. */
  secrets: Record<string, unknown>
  /** Those that were given. */
  limits: Static<typeof LimitSettings>
}

/** Checks each field separately; `Provider.check` follows. Unknown fields are dropped. */
export function readSettings(channel: MessageChannel, sent: SentSettings): ReadSettings | { faults: Fault[] } {
  const provider = providersOf(channel).find(({ name }) => name === sent['provider'])
  if (provider === undefined) {
    const names = providersOf(channel).map(({ name }) => name)
    const [only = '', ...others] = names
    if (others.length === 0) return { faults: [faultOf('provider', 'exactly', { value: only })] }
    return { faults: [faultOf('provider', 'one_of', { choices: names.join(', ') })] }
  }
  const settings = pick(provider.settings, sent)
  const secrets = pick(provider.secrets, sent)
  const limits = pick(LimitSettings, sent)
  // Absent secrets may be stored already.
  const faults = [
    ...faultsOf(provider.settings, settings),
    ...faultsOf(Type.Partial(provider.secrets), secrets),
    ...faultsOf(LimitSettings, limits),
  ]
  return faults.length > 0 ? { faults } : { provider, settings, secrets, limits }
}

/** The fields of a schema, with their defaults, and texts without surrounding white space. */
function pick(schema: TObject, sent: SentSettings): Record<string, unknown> {
  const fields = Object.keys(schema.properties).flatMap((name) => {
    const value = Object.hasOwn(sent, name) ? sent[name] : undefined
    const trimmed = typeof value === 'string' ? value.trim() : value
    return trimmed === undefined || trimmed === null || trimmed === '' ? [] : [[name, trimmed] as const]
  })
  return Value.Default(schema, Object.fromEntries(fields)) as Record<string, unknown>
}

/** One fault per field. Messages never contain a value, which may be a secret. */
function faultsOf(schema: TObject, fields: Record<string, unknown>): Fault[] {
  return Object.entries<TSchema>(schema.properties).flatMap(([path, field]) => {
    const value = fields[path]
    if (value === undefined && !schema.required?.includes(path)) return []
    const isRight = Value.Check(field, value) && (typeof value !== 'string' || isClean(value))
    if (isRight) return []
    return [value === undefined ? faultOf(path, 'required') : moveFault(field['rule'] as Fault, path)]
  })
}
