/** What both threads know of the job that runs, in memory that they share: its place in its batch, and since when. */
export interface RunningJob {
  memory: SharedArrayBuffer
  begin(place: number): void
  end(): void
  /** Of the job that runs; 0 when none runs. */
  place(): number
  /** For how many milliseconds it has run; undefined when none runs. */
  ms(): number | undefined
}

const BYTES = 16

/** @param memory of the other thread */
export function createRunningJob(memory = new SharedArrayBuffer(BYTES)): RunningJob {
  const [places, since] = [new Int32Array(memory, 0, 1), new BigInt64Array(memory, 8, 1)]
  return {
    memory,
    begin(place) {
      Atomics.store(places, 0, place)
      Atomics.store(since, 0, BigInt(Math.round(now())))
    },
    end() {
      Atomics.store(since, 0, 0n)
      // A thread that dies between two batches fails the first job of the next one.
      Atomics.store(places, 0, 0)
    },
    place: () => Atomics.load(places, 0),
    ms() {
      const at = Number(Atomics.load(since, 0))
      return at === 0 ? undefined : now() - at
    },
  }
}

/** The same in each thread, and not changed when the time of the machine is set. */
const now = (): number => performance.timeOrigin + performance.now()
