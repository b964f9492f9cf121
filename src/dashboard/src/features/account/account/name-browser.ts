/**
 * Returns a name such as `Firefox · Linux`. The header can be forged, but the name is good enough for people to
 * recognise their own sessions.
 */
export function nameBrowser(userAgent: string): string | null {
  const browser = find(BROWSERS, userAgent)
  const system = find(SYSTEMS, userAgent)
  return browser === undefined ? null : system === undefined ? browser : `${browser} · ${system}`
}

// Most user agents also contain the names of other browsers, so the first match counts.
const BROWSERS: readonly [string, RegExp][] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Headless)?(?:Chrome|CriOS)\//],
  ['Safari', /\bSafari\//],
]
const SYSTEMS: readonly [string, RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iOS', /\b(?:iPhone|iPad)\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
]

const find = (names: readonly [string, RegExp][], text: string) => names.find(([, pattern]) => pattern.test(text))?.[0]
