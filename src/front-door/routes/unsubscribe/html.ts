/** Parts of the HTML of the pages. */
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

export const button = (name: string, value: string, label: string): string =>
  `<button name="${name}" value="${value}">${escape(label)}</button>`

/** The form is posted to the address of the page. */
export const form = (...parts: string[]): string => `<form method="post">${parts.join('')}</form>`
