/**
 * Removes the path at the start of an English message: the page shows the path beside the message, or shows the message
 * at the field of that path.
 */
export const withoutPath = ({ path, message }: { path: string; message: string }): string =>
  message.startsWith(`${path} `) || message.startsWith(`${path}: `)
    ? message.slice(path.length + 1).trimStart()
    : message

/** Returns the message as a sentence at its field, whose label says what it is about. */
export function sayAtField(issue: { path: string; message: string }): string {
  const text = withoutPath(issue)
  const sentence = text.charAt(0).toLocaleUpperCase() + text.slice(1)
  return /[.!?:…]$/.test(sentence) ? sentence : `${sentence}.`
}
