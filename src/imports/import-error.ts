/** The file, or the mapping of its columns, is unusable. `code` is `usage` when the mapping is wrong. */
export class ImportError extends Error {
  override name = 'ImportError'
  readonly code: 'usage' | 'unreadable_file'

  constructor(code: 'usage' | 'unreadable_file', message: string) {
    super(message)
    this.code = code
  }
}
