/** The text of a file, piece by piece: memory does not grow with the file. */
import { createReadStream } from 'node:fs'
import { CommandError } from '../command.ts'

/** Throws CommandError when the file cannot be read, or its bytes are no text. */
export const readText = (file: string): AsyncGenerator<string> => decodeText(readChunks(file), file)

async function* readChunks(file: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(file)
  } catch (error) {
    throw new CommandError('unreadable_file', `${file} cannot be read: ${(error as Error).message}`)
  }
}

/**
 * UTF-8, or UTF-16LE where a byte order mark says so; the mark is left out. Throws CommandError with the line of the first byte
 * that is neither: replaced by U+FFFD it would be recorded, and the mended row would count again.
 */
export async function* decodeText(chunks: AsyncIterable<Buffer>, file: string): AsyncGenerator<string> {
  let decode: Decode | undefined
  for await (const chunk of chunks) {
    decode ??= createDecoder(chunk, file)
    yield decode(chunk)
  }
  decode?.()
}

/** Without a chunk: the end, which no character may reach over. */
type Decode = (chunk?: Buffer) => string

function createDecoder(start: Buffer, file: string): Decode {
  const encoding = start[0] === 0xff && start[1] === 0xfe ? 'utf-16le' : 'utf-8'
  const newline = Buffer.from('\n', encoding)
  const decoder = new TextDecoder(encoding, { fatal: true })
  let line = 1
  const decodePart = (part?: Buffer): string => {
    try {
      const text = decoder.decode(part, { stream: part !== undefined })
      if (text.includes('\n')) line++
      return text
    } catch {
      throw new CommandError('unreadable_file', describeDamage(file, line, encoding))
    }
  }
  return (chunk) => (chunk ? cutLines(chunk, newline).map(decodePart).join('') : decodePart())
}

/** The decoder does not say where it failed: it gets one line at a time. */
function cutLines(chunk: Buffer, newline: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let from = 0; from < chunk.length;) {
    const found = chunk.indexOf(newline, from)
    const end = found === -1 ? chunk.length : found + newline.length
    parts.push(chunk.subarray(from, end))
    from = end
  }
  return parts
}

const describeDamage = (file: string, line: number, encoding: string): string =>
  `Line ${line} of ${file} is not ${encoding.toUpperCase()}. ` +
  'Convert the file and import the copy; from Windows-1252: iconv -f WINDOWS-1252 -t UTF-8 FILE > COPY'
