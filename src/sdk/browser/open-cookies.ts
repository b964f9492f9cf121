/** First-party cookies on the widest domain that the browser allows. */

export interface Cookies {
  get(name: string): string | null
  set(name: string, value: string): void
  remove(name: string): void
  /** Returns the domain of the cookies; the host itself when no wider domain is possible. */
  site(): string
}

/** The part of `document` that is used. Reading or writing may throw where storage is denied. */
export interface Jar {
  cookie: string
}

const YEAR_SECONDS = 31_536_000

export function openCookies(jar: Jar, { hostname, protocol }: { hostname: string; protocol: string }): Cookies {
  let widest: string | undefined
  const get = (name: string): string | null => {
    try {
      return new RegExp(`(?:^|; )${name}=([^;]*)`).exec(jar.cookie)?.[1] ?? null
    } catch {
      return null
    }
  }
  const write = (name: string, value: string, maxAge: number, domain: string): void => {
    const where = domain ? `; domain=${domain}` : ''
    const secure = protocol === 'https:' ? '; secure' : ''
    try {
      jar.cookie = `${name}=${value}; path=/; max-age=${maxAge}; samesite=lax${where}${secure}`
    } catch {
      // Denied: the local store must suffice.
    }
  }
  const accepts = (domain: string): boolean => {
    write('sluice_probe', '1', 9, domain)
    const accepted = get('sluice_probe') !== null
    write('sluice_probe', '', 0, domain)
    return accepted
  }
  const domain = (): string => (widest ??= listDomains(hostname).find(accepts) ?? '')
  return {
    get,
    set: (name, value) => write(name, value, YEAR_SECONDS, domain()),
    remove: (name) => write(name, '', 0, domain()),
    site: () => domain() || hostname,
  }
}

/**
 * Returns the domains to try, widest first. Browsers refuse cookies on a public suffix (`co.uk`), so the first accepted
 * one is the registrable domain. Empty for an IP address or a single label.
 */
export function listDomains(hostname: string): string[] {
  if (/^[\d.]+$|:/.test(hostname)) return []
  const labels = hostname.split('.')
  return labels.slice(1).map((_, index) => labels.slice(-2 - index).join('.'))
}
