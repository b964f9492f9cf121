/** Why a port cannot be had, in an operator's words. `error` is what listening on it has thrown. */
export function explainPortError(error: unknown, host: string, port: number): Error {
  const { code, message } = error as NodeJS.ErrnoException
  const remedy =
    code === 'EADDRINUSE' ? 'set PORT to a free one' : `set PORT and HOST (${host}) to what this machine has`
  return new Error(`PORT ${port} cannot be had (${code ?? message}): ${remedy}.`, { cause: error })
}
