/** The file, or the mapping of its columns, cannot be used. `code`: `usage` for the mapping. */
export class ImportError extends Error {
  override name = 'ImportError'
  readonly code: 'usage' | 'unreadable_file'

  constructor(code: 'usage' | 'unreadable_file', message: string) {
    super(message)
    this.code = code
  }
}
