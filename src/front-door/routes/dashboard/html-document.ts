/** Serves the HTML of a message, for a frame of the dashboard. */

/**
 * Nothing in the document may run or send data, and no image is loaded, because its host would learn that a person has
 * looked.
 */
const HTML_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    'sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

export const htmlDocument = (html: string): Response => new Response(html, { headers: HTML_HEADERS })
