/**
 * Returns the operator's error message for a port that cannot be opened. `error`: what the attempt to listen on it
 * threw.
 */
export function explainPortError(error: unknown, host: string, port: number): Error {
  const { code, message } = error as NodeJS.ErrnoException
  const remedy =
    code === 'EADDRINUSE' ? 'set PORT to a free one' : `set PORT and HOST (${host}) to what this machine has`
  return new Error(`Cannot listen on PORT ${port} (${code ?? message}): ${remedy}.`, { cause: error })
}
