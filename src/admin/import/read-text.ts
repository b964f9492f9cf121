/** Reads the text of a file in chunks, so that memory use does not grow with the file. */
import { createReadStream } from 'node:fs'
import { CommandError } from '../command.ts'

/** Throws CommandError when the file cannot be read or is not text. */
export const readText = (file: string): AsyncGenerator<string> => decodeText(readChunks(file), file)

async function* readChunks(file: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(file)
  } catch (error) {
    throw new CommandError('unreadable_file', `${file} cannot be read: ${(error as Error).message}`)
  }
}

/**
 * Decodes UTF-8, or UTF-16LE after its byte order mark, and omits the mark. Throws CommandError with the line of the
 * first invalid byte. If that byte were replaced by U+FFFD, the row would be recorded, and recorded again after it is
 * corrected.
 */
export async function* decodeText(chunks: AsyncIterable<Buffer>, file: string): AsyncGenerator<string> {
  let decode: Decode | undefined
  for await (const chunk of chunks) {
    decode ??= createDecoder(chunk, file)
    yield decode(chunk)
  }
  decode?.()
}

/** A call without a chunk ends the text; an incomplete character throws. */
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

/** Cuts the chunk into lines, because the decoder does not report where it failed. */
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
  'Convert the file, and import the copy. From Windows-1252: iconv -f WINDOWS-1252 -t UTF-8 FILE > COPY'
