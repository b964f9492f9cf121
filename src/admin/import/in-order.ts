/**
 * Works on `parallel` jobs at a time and yields their results in the order of the jobs, so that what has been yielded
 * is a position to continue from. The first job that fails ends it.
 */
export async function* inOrder<Job, Result>(
  jobs: AsyncIterable<Job>,
  parallel: number,
  work: (job: Job) => Promise<Result>,
): AsyncGenerator<Result> {
  const running: Promise<Result>[] = []
  for await (const job of jobs) {
    const result = work(job)
    // Its failure is told when its turn comes; until then it is no unhandled one.
    result.catch(() => undefined)
    running.push(result)
    const oldest = running.length >= parallel ? running.shift() : undefined
    if (oldest) yield await oldest
  }
  for (const result of running) yield await result
}
