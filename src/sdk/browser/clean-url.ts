/** Longest address that the service accepts. The patterns below take time proportional to the square of the length. */
const MAX_LENGTH = 2048

/**
 * Returns the address without data that must not leave the page: names and passwords before the host, fragments (except
 * an app's routes, `#/…`), parameters whose name or value is secret or personal, and emails in the path. Cuts it at the
 * limit. Everything else is unchanged.
 */
export function cleanUrl(url: string): string {
  const [, base = '', query = '', fragment = ''] = /^([^?#]*)\??([^#]*)#?([^]*)$/.exec(cutUrl(url)) ?? []
  const kept = query.split('&').filter((parameter) => parameter !== '' && !isPrivate(parameter))
  return (
    base.replace(/\/\/[^/]*@/, '//').replace(EMAIL, '-') +
    (kept.length > 0 ? `?${kept.join('&')}` : '') +
    routeOf(fragment)
  )
}

/** Identifies a page: its address without parameters. */
export function pathOf(url: string): string {
  return cleanUrl(url).replace(/\?[^#]*/, '')
}

/** Cuts at whole segments and parameters: half an email, or a password without its host, would not be recognised. */
function cutUrl(url: string): string {
  return url.length > MAX_LENGTH ? url.slice(0, MAX_LENGTH).replace(/[^/?&#]*$/, '') : url
}

function routeOf(fragment: string): string {
  const [route] = /^!?\/[^?]*/.exec(fragment) ?? []
  return route ? `#${route.replace(EMAIL, '-')}` : ''
}

const PRIVATE_NAME =
  /token|secret|passw|pwd|auth(?!or)|session|jwt|api_?key|signature|e-?mail|phone|^(code|key|otp|pin|sig|sid|ssn|tel)$/i
const EMAIL = /[^/?&=@]+(@|%40)[^/?&=@]+\.[a-z]{2,}/gi

function isPrivate(parameter: string): boolean {
  const [name = ''] = parameter.split('=')
  return PRIVATE_NAME.test(name) || parameter.search(EMAIL) >= 0
}
