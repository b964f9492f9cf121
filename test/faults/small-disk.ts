/** A disk in memory for one folder, small enough to be filled quickly. Mounting it requires root. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, open, readFile, rename, rm, rmdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const MEBIBYTE = 1024 * 1024
/** Free space as a share of the folder's size. Below a twentieth it counts as low. */
const SPARE_SHARE = 1 / 4
const MOST_DATA_BYTES = 4096 * MEBIBYTE
const BALLAST = 'ballast'
const REFILL_MS = 250

export interface SmallDisk {
  /**
   * Fills the disk completely, and refills it when its store frees space (such as a rewritten log), until `makeRoom`.
   */
  fill(): Promise<void>
  makeRoom(): Promise<void>
  /** Moves the folder back, with its present content. No process may be using it. */
  remove(): Promise<void>
}

/** Returns the reason why such a disk is impossible; undefined when it is possible. */
export async function whyNoSmallDisk(): Promise<string | undefined> {
  if (process.platform !== 'linux') return `a tmpfs is needed, which ${process.platform} does not have`
  const place = await mkdtemp(join(tmpdir(), 'sluice-mount-'))
  try {
    await mount(place, MEBIBYTE)
    await run('umount', [place])
    return undefined
  } catch (error) {
    return `a tmpfs cannot be mounted (it takes root): ${(error as Error).message.trim()}`
  } finally {
    await rmdir(place)
  }
}

/** Moves a folder to a small disk with at least this much free space, at the same path. No process may be using it. */
export async function moveToSmallDisk(folder: string, spareBytes: number): Promise<SmallDisk> {
  const aside = `${folder}.aside`
  const { mode, uid, gid } = await stat(folder)
  const bytes = await sizeOf(folder)
  if (bytes > MOST_DATA_BYTES) throw new Error(`${folder} is too large to be held in memory: ${bytes} bytes`)
  await rename(folder, aside)
  await mkdir(folder)
  await mount(folder, bytes + Math.max(spareBytes, bytes * SPARE_SHARE), { mode, uid, gid })
  await copyInto(aside, folder)
  const { keepFull, makeRoom } = holdBallast(join(folder, BALLAST))
  return {
    fill: keepFull,
    makeRoom,
    async remove() {
      await makeRoom()
      await rm(aside, { recursive: true })
      await mkdir(aside)
      await run('chown', ['--reference', folder, aside])
      await run('chmod', ['--reference', folder, aside])
      await copyInto(folder, aside)
      await run('umount', [folder])
      await rmdir(folder)
      await rename(aside, folder)
    },
  }
}

async function mount(place: string, bytes: number, { mode, uid, gid } = { mode: 0o700, uid: 0, gid: 0 }) {
  const options = `size=${Math.ceil(bytes)},mode=${(mode & 0o777).toString(8)},uid=${uid},gid=${gid}`
  await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', place])
}

async function sizeOf(folder: string): Promise<number> {
  const { stdout } = await run('du', ['-s', '--block-size=1', folder])
  return Number.parseInt(stdout)
}

const copyInto = (from: string, to: string) => run('cp', ['-a', `${from}/.`, to])

function holdBallast(file: string) {
  let filling = Promise.resolve()
  let refilling: NodeJS.Timeout | undefined
  const refill = () => {
    filling = filling.then(() => fill(file)).catch(() => undefined)
  }
  return {
    async keepFull(): Promise<void> {
      await fill(file)
      refilling = setInterval(refill, REFILL_MS)
    },
    async makeRoom(): Promise<void> {
      clearInterval(refilling)
      await filling
      await rm(file, { force: true })
    },
  }
}

async function fill(file: string): Promise<void> {
  const ballast = await open(file, 'a')
  try {
    for (const bytes of [MEBIBYTE, 4096]) await writeUntilFull(ballast, Buffer.alloc(bytes))
  } finally {
    await ballast.close()
  }
}

async function writeUntilFull(file: Awaited<ReturnType<typeof open>>, block: Buffer): Promise<void> {
  try {
    for (;;) await file.write(block)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
}

/** Unmounts everything that a run left mounted below its folder. */
export async function unmountBelow(folder: string): Promise<void> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  const places = mounts.split('\n').map((line) => line.split(' ')[1] ?? '')
  for (const place of places) if (place.startsWith(`${folder}/`)) await run('umount', ['-l', place])
}
