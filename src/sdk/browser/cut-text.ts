/** Returns at most `length` code units of the text, without splitting a surrogate pair. */
export function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, '')
}
