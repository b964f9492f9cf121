/**
 * An address without what should not leave the page: names and passwords before the host, fragments (other than the routes of
 * an app, `#/…`), parameters that carry secrets or persons by their name or their value, and emails in the path.
 * Everything else stays as it is.
 */
export function cleanUrl(url: string): string {
  const [, base = '', query = '', fragment = ''] = /^([^?#]*)\??([^#]*)#?([^]*)$/.exec(url) ?? []
  const kept = query.split('&').filter((parameter) => parameter !== '' && !isPrivate(parameter))
  return (
    base.replace(/\/\/[^/]*@/, '//').replace(EMAILS, '-') +
    (kept.length > 0 ? `?${kept.join('&')}` : '') +
    routeOf(fragment)
  )
}

/** What tells one page from another: the address without its parameters. */
export function pathOf(url: string): string {
  return cleanUrl(url).replace(/\?[^#]*/, '')
}

function routeOf(fragment: string): string {
  const [route = ''] = fragment.split('?')
  return /^!?\//.test(route) ? `#${route.replace(EMAILS, '-')}` : ''
}

const PRIVATE_NAME =
  /token|secret|passw|pwd|auth(?!or)|session|jwt|api_?key|signature|e-?mail|phone|^(code|key|otp|pin|sig|sid|ssn|tel)$/i
const EMAIL = /[^/?&=@]+(@|%40)[^/?&=@]+\.[a-z]{2,}/i
const EMAILS = new RegExp(EMAIL, 'gi')

function isPrivate(parameter: string): boolean {
  const [name = ''] = parameter.split('=')
  return PRIVATE_NAME.test(name) || EMAIL.test(parameter.slice(name.length))
}
