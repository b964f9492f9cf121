/** Downloads a text that the page has made. */
export function download(name: string, text: string): void {
  const link = document.createElement('a')
  const type = name.endsWith('.csv') ? 'text/csv' : 'application/x-ndjson'
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}
