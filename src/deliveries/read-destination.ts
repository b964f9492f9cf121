/** Reads the settings of a destination that people enter in commands and in the dashboard. Throws SettingsError. */
import { RefusedTargetError, resolveTarget } from '../outbound/resolve-target.ts'
import type { TargetGuard } from '../outbound/target-guard.ts'
import { CONVERSION_TYPES, type ConversionType } from '../rules/events/facts.ts'
import { faultOf } from '../rules/faults.ts'
import { type DestinationKind, SettingsError, checkSettings, convertSettings, settingNames } from './settings.ts'

/** Conversions must not be sent to this address. The message does not name the setting. */
export class TargetError extends SettingsError {
  override name = 'TargetError'
}

/** The name of a setting and its text. An empty text removes the setting. */
export type SettingText = readonly [name: string, text: string]

/** Returns the settings `before` with the changes in `texts`. */
export function readSettings(
  kind: DestinationKind,
  before: object,
  texts: readonly SettingText[],
): Record<string, unknown> {
  const settings = structuredClone(before) as Record<string, unknown>
  for (const [path, text] of texts) {
    if (!settingNames(kind).includes(path)) throw new SettingsError([faultOf(path, 'no_setting_of', { kind })])
    const [name = '', part] = path.split('.')
    if (part === undefined) put(settings, name, text)
    else put((settings[name] ??= {}) as Record<string, unknown>, part, text)
  }
  const converted = convertSettings(kind, settings)
  checkSettings(kind, converted)
  return converted as Record<string, unknown>
}

function put(settings: Record<string, unknown>, name: string, text: string): void {
  if (text === '') delete settings[name]
  else settings[name] = text.trim()
}

/**
 * Returns the conversion types to send; undefined when none are given. For Google, these are the types that have a
 * conversion action.
 */
export function readTypes(
  kind: DestinationKind,
  settings: { conversionActions?: object },
  named: readonly ConversionType[] | undefined,
): ConversionType[] | undefined {
  if (kind === 'google') {
    if (named) throw new SettingsError([faultOf('types', 'google_types')])
    return CONVERSION_TYPES.filter((type) => type in (settings.conversionActions ?? {}))
  }
  return named && CONVERSION_TYPES.filter((type) => named.includes(type))
}

/** Settings whose values are addresses. */
const ADDRESSES = ['url', 'baseUrl', 'tokenUrl']
const LOOKUP_MS = 5000

/** Throws TargetError for a forbidden address. Accepts an unknown host, because it may become known. */
export async function checkTargets(settings: Record<string, unknown>, guard: TargetGuard): Promise<void> {
  for (const path of ADDRESSES) {
    const address = settings[path]
    if (typeof address !== 'string') continue
    if (!URL.canParse(address)) throw new SettingsError([faultOf(path, 'an_address')])
    try {
      await resolveTarget(new URL(address), guard, AbortSignal.timeout(LOOKUP_MS))
    } catch (error) {
      if (error instanceof RefusedTargetError) throw new TargetError([{ path, message: error.message }])
    }
  }
}
