/**
 * Returns the reasons in a response of `/readyz` or `/healthz`. Stores come first, because a partition without a worker
 * is a consequence.
 */
export function explainUnready(body: string): string[] {
  const reasons = readReasons(body)
  const isOfPartition = (reason: string) => reason.startsWith('workers: ')
  return [...reasons.filter((reason) => !isOfPartition(reason)), ...reasons.filter(isOfPartition)]
}

/** The front door responds with an envelope, the workers with lines of text. */
function readReasons(body: string): string[] {
  try {
    const { message, error } = JSON.parse(body) as { message?: string; error?: { issues?: { message: string }[] } }
    return error?.issues?.map((issue) => issue.message) ?? [message ?? 'no reason given']
  } catch {
    return body.trim().split('\n')
  }
}
