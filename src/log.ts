/**
 * Structured logs, one JSON line each. Personal data and keys stay out: only the type, message, code and stack of an
 * error are logged (the error of a driver would carry the statement's parameters or the command's arguments).
 */
import { type Logger, pino } from 'pino'

export type { Logger }

/** Names of fields that are never logged. */
export const PRIVATE = ['authorization', 'email', 'phone']
const REDACTED = PRIVATE.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`])

/** How many bytes are buffered while the disk of the log is full; later lines are dropped. */
const WAITING_BYTES = 1024 * 1024

/** `to` is a file descriptor: commands that print their result to standard output log to 2. */
export function createLogger(options: { level: string; name: string; to?: 1 | 2 }): Logger {
  return pino(
    {
      level: options.level,
      base: { process: options.name },
      redact: { paths: REDACTED, censor: '[redacted]' },
      serializers: { err: describeError },
      formatters: { level: (level) => ({ level }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    openDestination(options.to ?? 1),
  )
}

function openDestination(fd: number) {
  const destination = pino.destination({ fd, sync: true, maxLength: WAITING_BYTES })
  // Without a listener the error would be thrown where a line is logged. A full disk must not fail requests or end loops.
  destination.on('error', () => undefined)
  return destination
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code } = error as { code?: unknown }
  return {
    type: error.name,
    message: error.message,
    ...(code === undefined ? {} : { code }),
    stack: error.stack,
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
  }
}
