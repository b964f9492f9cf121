/** Makes a provider's words fit to be shown. */

export const MAX_REASON = 300

/** Returns one line without `secrets`, in any form that they have in requests, cut after `MAX_REASON` characters. */
export function showWords(text: string, secrets: readonly string[] = []): string {
  const hidden = secrets
    .filter((secret) => secret !== '')
    .flatMap((secret) => [secret, Buffer.from(secret).toString('base64')])
    // One secret can be a part of another.
    .toSorted((a, b) => b.length - a.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '…'), text)
  const line = hidden
    .toWellFormed()
    .replaceAll(/[\s\p{C}]+/gu, ' ')
    .trim()
  return line.length > MAX_REASON ? `${line.slice(0, MAX_REASON - 1).toWellFormed()}…` : line
}
