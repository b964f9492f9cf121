/** Random tokens of sessions and links. Only their hashes are stored. */
import { createHash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32

export const createToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url')

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()
