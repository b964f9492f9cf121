/**
 * Structured logs with one JSON object per line. They contain no personal data and no keys: of errors, only the type,
 * message, code and stack are logged (a driver's error also has the parameters of the statement or the arguments of the
 * command).
 */
import { type Logger, pino } from 'pino'

export type { Logger }

/** Names of fields that are never logged. */
export const PRIVATE = ['authorization', 'email', 'phone']
const REDACTED = PRIVATE.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `*.*.*.${name}`])

/** Bytes to buffer while the disk of the log is full. Further lines are dropped. */
const WAITING_BYTES = 1024 * 1024

/** `to`: a file descriptor. Commands that print their result to standard output log to 2. */
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
  // Without a listener the error would be thrown from the code that logs. A full disk must not fail requests or end
  // loops.
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
