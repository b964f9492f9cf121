/** What `/readyz` or `/healthz` gives as reasons, for a terminal. Stores come first: a lane without a worker follows from them. */
export function explainUnready(body: string): string[] {
  const reasons = readReasons(body)
  const isOfPartition = (reason: string) => reason.startsWith('workers: ')
  return [...reasons.filter((reason) => !isOfPartition(reason)), ...reasons.filter(isOfPartition)]
}

/** Of the front door, which answers in an envelope, or of the workers, which answer in lines. */
function readReasons(body: string): string[] {
  try {
    const { message, error } = JSON.parse(body) as { message?: string; error?: { issues?: { message: string }[] } }
    return error?.issues?.map((issue) => issue.message) ?? [message ?? 'no reason given']
  } catch {
    return body.trim().split('\n')
  }
}
